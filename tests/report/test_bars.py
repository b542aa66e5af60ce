from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.bars import percents


@given(st.lists(st.integers(0, 10_000), min_size=1).filter(any))
def test_prop_what_is_written_sums_to_the_whole(amounts: list[int]) -> None:
    whole = sum(amounts)
    written = percents([amount / whole for amount in amounts])
    assert sum(float(text) for text in written if text != "<0.1") == pytest.approx(100)
    for amount, text in zip(amounts, written, strict=True):
        assert text == "<0.1" or abs(float(text) - 100 * amount / whole) <= 0.1 + 1e-9
        assert (text == "0.0") == (amount == 0)
