"""Where nodes lie: both ways to look for one find the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.web.node import modules

_ANSWER = """
function answer(widths, low, x) {
  const totals = Float64Array.from(widths);
  const starts = totals.map((_, place) => totals.subarray(0, place).reduce((sum, width) => sum + width, 0));
  const layout = { order: Uint32Array.from(widths.keys()), starts, totals };
  return [firstEndingAfter, nextEndingAfter].map((find) => find(layout, low, widths.length, x));
}
"""


@pytest.fixture(scope="module")
def ask() -> Any:
    with modules(["flame/layout.js"], _ANSWER) as asked:
        yield asked


@given(st.data())
def test_looking_ahead_finds_what_bisection_finds(ask: Callable[..., Any], data: st.DataObject) -> None:
    widths = data.draw(st.lists(st.integers(1, 9), max_size=80))
    low = data.draw(st.integers(0, len(widths)))
    ends = list(accumulate(widths))
    x = data.draw(st.integers(0, sum(widths) + 1))
    wanted = max(low, bisect_right(ends, x))
    assert ask(widths, low, x) == [wanted, wanted]
