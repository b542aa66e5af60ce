"""Places and numbers of ids, whatever the ids are."""

from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.places import Numbers, Places, keys_of, pair_of

IDS = st.one_of(st.integers(-2, 9), st.sampled_from([-(2**31), 2**31 - 1, 4095, 4096, 9000, 20_000]))


@given(pairs=st.lists(st.tuples(IDS, st.integers(-1, 2))))
def test_each_pair_has_a_place_in_the_order_of_coming(pairs: list[tuple[int, int]]) -> None:
    places = Places()
    expected = list(dict.fromkeys(pairs))
    assert [places.of(*pair) for pair in pairs] == [expected.index(pair) for pair in pairs]
    assert len(places) == len(expected)
    assert list(zip(places.numbers().tolist(), places.attempts().tolist(), strict=True)) == expected
    keys = keys_of(places.numbers(), places.attempts()).tolist()
    assert [pair_of(key) for key in keys] == expected
    assert sorted(keys) == [keys[expected.index(pair)] for pair in sorted(expected)]
    assert places.find(77, 7) is None


@given(given_numbers=st.lists(st.tuples(IDS, st.integers(-5, 5))))
def test_the_last_number_counts_or_the_first(given_numbers: list[tuple[int, int]]) -> None:
    last, first = Numbers(), Numbers()
    for of, value in given_numbers:
        last[of] = value
        first.setdefault(of, value)
    for of, value in dict(given_numbers).items():
        assert last.get(of) == value
    for of, value in dict(reversed(given_numbers)).items():
        assert first.get(of) == value
    assert last.get(55) is None
