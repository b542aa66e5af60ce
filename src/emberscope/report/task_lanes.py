"""Where each task attempt is drawn: the row of its executor that it lies in, and what a full page folds together.

A page holds so many attempts as single bars; of more, it keeps all that failed and the longest, and folds the others
into the time that each executor was busy with them, by piece of time.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from emberscope.report.task_columns import Ints, TaskColumns

MOST_TASKS: Final = 100_000
"""So many attempts are single bars in a page."""

OVERLAP_MS: Final = 1_000
"""By so much the attempts of a row may overlap where the executor has no more cores."""

_MOST_PIECES: Final = 200_000
_MOST_OF_ONE: Final = 2_000


def slots(executor: Ints, launch: Ints, finish: Ints, cores: Ints) -> Ints:
    """The row of each attempt in the lane of its executor: the lowest that is free when it is launched.

    Attempts stand by launch; `cores` are by executor, 0 where not known. Spark's driver gives a core away before it
    writes down the end of the task that had it, so that attempts of a full executor seem to overlap. Where as many rows
    as cores are busy, an attempt follows the one that ends first if that is within `OVERLAP_MS` and it ends no sooner
    itself. Else no two of a row overlap. An executor has as many rows as it ran attempts at once.
    """
    busy: dict[int, list[tuple[int, int]]] = {}
    free: dict[int, list[int]] = {}
    rows = np.zeros(len(launch), np.int64)
    for place, (one, begin, end) in enumerate(zip(executor.tolist(), launch.tolist(), finish.tolist(), strict=True)):
        working, idle = busy.setdefault(one, []), free.setdefault(one, [])
        while working and working[0][0] <= begin:
            heapq.heappush(idle, heapq.heappop(working)[1])
        if idle:
            row = heapq.heappop(idle)
        elif len(working) >= cores[one] > 0 and working[0][0] <= min(begin + OVERLAP_MS, end):
            row = heapq.heappop(working)[1]
        else:
            row = len(working)
        heapq.heappush(working, (end, row))
        rows[place] = row
    return rows


def kept(tasks: TaskColumns, failed: int, most: int = MOST_TASKS) -> npt.NDArray[np.bool_]:
    """Which attempts are single bars: all where these are few, else those of status `failed`, then the longest."""
    keep = np.ones(len(tasks), bool)
    if len(tasks) > most:
        order = np.lexsort((-tasks.duration, tasks.status != failed))
        keep[order[most:]] = False
    return keep


@dataclass(frozen=True, slots=True)
class Folded:
    """Attempts that are not single bars: busy ms (of all of them together) by executor and piece of `piece_ms`."""

    piece_ms: int
    executor: Ints
    piece: Ints
    busy_ms: Ints


def folded(executor: Ints, launch: Ints, finish: Ints, end_ms: int) -> Folded:
    """The busy time of each executor by piece of the time from 0 to `end_ms`; pieces without any are left out."""
    known = np.unique(executor)
    pieces = max(50, min(_MOST_OF_ONE, _MOST_PIECES // max(len(known), 1)))
    piece_ms = max(1, -(-max(end_ms, 1) // pieces))
    edges = np.arange(0, end_ms + 2 * piece_ms, piece_ms, dtype=np.int64)
    found: list[tuple[Ints, Ints, Ints]] = []
    for one in known.tolist():
        here = executor == one
        busy = np.diff(_before(launch[here], edges) - _before(finish[here], edges))
        some = np.flatnonzero(busy)
        found.append((np.full(len(some), one, np.int64), some.astype(np.int64), busy[some]))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)] if found else [np.zeros(0, np.int64)] * 3
    return Folded(piece_ms, *columns)


def _before(times: Ints, edges: Ints) -> Ints:
    """At each edge, the time from each of `times` before it up to it, summed."""
    times = np.sort(times)
    sums = np.concatenate(([0], np.cumsum(times)))
    count = np.searchsorted(times, edges)
    return np.asarray(count * edges - sums[count], np.int64)
