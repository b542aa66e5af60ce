"""One clock for all that the page draws over time, in buckets of one length; nothing that matters is lost in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

_MS: Final = 1_000_000
_LENGTHS_MS: Final = (20, 50, 100, 200, 500)
_LENGTHS_S: Final = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)


def lengths_ns(least_ns: int = 0) -> Iterator[int]:
    """Lengths that people count in, from a sampler's period up without an end, none below `least_ns`."""
    known = (*(ms * _MS for ms in _LENGTHS_MS), *(seconds * 1000 * _MS for seconds in _LENGTHS_S))
    yield from (length for length in known if length >= least_ns)
    yield from (length for power in count(1) if (length := known[-1] << power) >= least_ns)


@dataclass(frozen=True, slots=True)
class Grid:
    """`count` buckets of `length_ns`; the first begins `first` lengths after `start_ns`, where the page counts from."""

    start_ns: int
    length_ns: int
    first: int
    count: int

    @property
    def length_s(self) -> float:
        return self.length_ns / 1e9

    def places(self, times_ns: Ints) -> Ints:
        """The bucket of each time, -1 where it lies outside."""
        places = (times_ns - self.start_ns) // self.length_ns - self.first
        return np.where((places >= 0) & (places < self.count), places, -1)

    def edges_ns(self) -> Ints:
        """Where buckets begin and end, since `start_ns`: one more than there are buckets."""
        return (self.first + np.arange(self.count + 1, dtype=np.int64)) * self.length_ns


def grid_of(start_ns: int, low_ns: int, high_ns: int, most: int, least_ns: int = 0) -> Grid:
    """The finest grid of at most `most` buckets (two or more), none shorter than `least_ns`, that covers all from
    `low_ns` to `high_ns`."""
    low, high = low_ns - start_ns, max(low_ns, high_ns) - start_ns
    length = next(ns for ns in lengths_ns(least_ns) if high // ns - low // ns < most)
    return Grid(start_ns, length, low // length, high // length - low // length + 1)


def spread(grid: Grid, begins_ns: Ints, ends_ns: Ints, amounts: Floats) -> Floats:
    """Amounts by bucket, each spread evenly over its time; the sum is that of the amounts if the grid covers them."""
    begins = (begins_ns - grid.start_ns) / 1e9
    ends = np.maximum((ends_ns - grid.start_ns) / 1e9, begins + 1e-3)
    rates = amounts / (ends - begins)
    edges = grid.edges_ns() / 1e9
    done = np.clip(_ramps(edges, begins, rates) - _ramps(edges, ends, rates), 0, None)
    return np.clip(np.diff(done), 0, None)


def _ramps(edges: Floats, at: Floats, slopes: Floats) -> Floats:
    """At each edge the sum of what has grown with its slope since its time."""
    order = np.argsort(at, kind="stable")
    before = np.searchsorted(at[order], edges)
    slope = np.append(0.0, np.cumsum(slopes[order]))
    offset = np.append(0.0, np.cumsum(slopes[order] * at[order]))
    grown: Floats = slope[before] * edges - offset[before]
    return grown


def extremes(grid: Grid, times_ns: Ints, values: Floats) -> Floats:
    """Two values by bucket, its least and its greatest in the order in which they came; NaN where it has none."""
    result = np.full(2 * grid.count, np.nan)
    places = grid.places(times_ns)
    known = (places >= 0) & ~np.isnan(values)
    places, times, values = places[known], times_ns[known], values[known]
    if not len(places):
        return result
    low = np.lexsort((times, values, places))
    high = np.lexsort((times, -values, places))
    begins = np.flatnonzero(np.diff(places[low], prepend=-1))
    low, high = low[begins], high[begins]
    place, rises = places[low], times[low] <= times[high]
    result[2 * place] = np.where(rises, values[low], values[high])
    result[2 * place + 1] = np.where(rises, values[high], values[low])
    return result


def highest(lines: Iterable[Floats]) -> Floats:
    """The highest of several lines at each place, NaN where none has a value."""
    stacked = np.stack(list(lines))
    filled = np.where(np.isnan(stacked), -np.inf, stacked).max(axis=0)
    return np.where(np.isinf(filled), np.nan, filled)


def mean(lines: Iterable[Floats]) -> Floats:
    """The mean of those lines that have a value at a place."""
    stacked = np.stack(list(lines))
    known = (~np.isnan(stacked)).sum(axis=0)
    return np.where(known > 0, np.nansum(stacked, axis=0) / np.maximum(known, 1), np.nan)


def held(grid: Grid, times_ns: Ints, values: Floats) -> Floats:
    """By bucket the last value known then, from the first to the last bucket with one; NaN before and after."""
    result = np.full(grid.count, np.nan)
    places = grid.places(times_ns)
    order = np.lexsort((times_ns, places))
    order = order[(places[order] >= 0) & ~np.isnan(values[order])]
    if not len(order):
        return result
    places = places[order]
    lasts = np.flatnonzero(np.diff(places, append=grid.count))
    result[places[lasts]] = values[order[lasts]]
    inside = slice(int(places[0]), int(places[-1]) + 1)
    piece = result[inside]
    piece[:] = piece[np.maximum.accumulate(np.where(np.isnan(piece), 0, np.arange(len(piece))))]
    return result


def together(lines: Iterable[Floats]) -> Floats:
    """The sum of those lines that have a value at a place, NaN where none has."""
    stacked = np.stack(list(lines))
    return np.where(np.isnan(stacked).all(axis=0), np.nan, np.nansum(stacked, axis=0))
