"""Times in numbers of 64 bits, against numbers without bounds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emberscope.jfr.clock import NS, ends_ns, spans_ns, times_ns
from emberscope.jfr.header import Header

MIN, MAX = -(1 << 63), (1 << 63) - 1
longs = st.one_of(st.integers(MIN, MAX), st.integers(-(10**12), 10**12), st.sampled_from([MIN, MIN + 1, MAX - 1, MAX]))
clocks = st.one_of(st.integers(1, MAX), st.sampled_from([1, 10**6, 10**9, 2_800_000_000, 9_300_000_000, MAX]))


def header(start_ns: int, start_ticks: int, hertz: int) -> Header:
    return Header(0, 0, 2, 1, 0, 0, 0, start_ns, 0, start_ticks, hertz, 0, 1)


def column(values: list[int]) -> npt.NDArray[np.int64]:
    return np.array(values, np.int64)


def plain(found: tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]) -> list[int | None]:
    return [None if is_lost else int(value) for value, is_lost in zip(*found, strict=True)]


def fitting(values: list[int]) -> list[int | None]:
    return [value if MIN <= value <= MAX else None for value in values]


@given(st.lists(longs, max_size=5), longs, longs, clocks)
@example([MAX], MAX, MIN, 1)
@example([MIN + 1], MIN, MAX, MAX)
def test_ticks(values: list[int], start_ns: int, start_ticks: int, hertz: int) -> None:
    chunk = header(start_ns, start_ticks, hertz)
    assert plain(times_ns(chunk, column(values))) == fitting([chunk.to_ns(value) for value in values])
    assert plain(spans_ns(chunk, column(values), "TICKS")) == fitting([chunk.span_ns(value) for value in values])
    ends = fitting([chunk.to_ns(value + value) for value in values])
    assert plain(ends_ns(chunk, column(values), column(values))) == ends


@pytest.mark.parametrize("unit", NS)
@given(values=st.lists(longs, max_size=5))
def test_other_units(unit: str, values: list[int]) -> None:
    assert plain(spans_ns(header(5, 5, 5), column(values), unit)) == fitting([value * NS[unit] for value in values])


def test_a_unit_that_nobody_knows_is_not_guessed() -> None:
    assert plain(spans_ns(header(0, 0, 1), column([1]), "FORTNIGHTS")) == [None]
