from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.time_buckets import LEAST_BUCKETS, MOST_BUCKETS, bucket_lengths, length_words

S = 1_000_000_000


@given(st.integers(-(2**61), 2**61), st.integers(0, 2**61))
def test_prop_no_length_makes_too_many_buckets_and_none_but_the_first_too_few(low, span):
    lengths = bucket_lengths(low, low + span)
    counts = [(low + span) // length - low // length + 1 for length in lengths]
    assert lengths == sorted(set(lengths))
    assert max(counts) <= MOST_BUCKETS
    assert all(count >= LEAST_BUCKETS for count in counts[1:])


def test_half_an_hour_is_by_the_second_at_best_and_by_the_minute_at_worst():
    lengths = bucket_lengths(0, 1800 * S - 1)
    assert [length_words(length) for length in lengths] == ["1 s", "2 s", "5 s", "10 s", "30 s", "1 min"]


def test_short_recordings_have_buckets_of_20_ms():
    assert [length_words(length) for length in bucket_lengths(5, 5)] == ["20 ms"]


def test_the_longest_are_days():
    assert length_words(bucket_lengths(0, 3000 * 86_400 * S)[0]) == "2,880 min"
