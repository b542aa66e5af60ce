from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.bars import percents
from emberscope.units import format_ratio


@given(st.lists(st.integers(0, 10_000), min_size=1).filter(any))
def test_prop_what_is_written_is_the_share_and_never_hides_one(amounts: list[int]) -> None:
    whole = sum(amounts)
    for amount, text in zip(amounts, percents([amount / whole for amount in amounts]), strict=True):
        assert text == "<0.1" or abs(float(text) - 100 * amount / whole) <= 0.05 + 1e-9
        assert (text == "0.0") == (amount == 0)


def test_what_stands_in_the_bar_is_what_sentences_say() -> None:
    ratios = [0.497449, 0.0995, 0.12345, 0.9, 0.9996, 0.0001]
    assert [f"{text} %" for text in percents(ratios)] == [format_ratio(ratio) for ratio in ratios]
