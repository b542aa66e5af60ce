"""Task times by stage, host and locality: quartiles, stragglers, and who was slower than the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.report.task_columns import FAILED, LOCALITIES, STATUSES

if TYPE_CHECKING:
    from emberscope.report.task_columns import Floats, Ints, TaskColumns

BINS: Final = 40
"""Bars of the histogram of a stage, of equal width from its shortest to its longest task."""

MOST_LONGEST: Final = 20
MOST_HOSTS: Final = 200
_FENCE: Final = 1.5
"""Tukey's fence: beyond so many interquartile ranges over the third quartile a value is an outlier."""
_TIMES_MEDIAN: Final = 1.5
"""`spark.speculation.multiplier` by default before Spark 4.0: what runs longer than that is worth a second copy."""


@dataclass(frozen=True, slots=True)
class StageTimes:
    """Run times in ms of the measured tasks by stage, as `stages` of the columns; NaN where a stage has none.

    `limit_ms` is what a straggler is beyond: both 1.5 interquartile ranges over the third quartile and 1.5 medians.
    `bins` are triples of arrays: stage, bar, count.
    """

    measured: Ints
    quartiles: tuple[Floats, ...]
    limit_ms: Floats
    stragglers: Ints
    median_read_bytes: Floats
    bins: tuple[Ints, Ints, Ints]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The tasks of one host or locality level. `pace` is the median of run times, each over its stage's median."""

    name: str
    tasks: int
    failed: int
    task_ms: int
    median_ms: float | None
    pace: float | None
    gc_ratio: float | None
    fetch_ratio: float | None


@dataclass(frozen=True, slots=True)
class LongRow:
    """One of the longest tasks; times in ms, None where not known."""

    task: int
    stage: str
    executor: str
    host: str
    status: str
    locality: str
    launch_ms: int
    duration_ms: int
    pace: float | None
    cpu_ms: int | None
    gc_ms: int | None
    fetch_ms: int | None
    read_bytes: int | None
    spilled_bytes: int | None


def stage_times(tasks: TaskColumns) -> StageTimes:
    count, measured = len(tasks.stages), np.flatnonzero(tasks.measured)
    stage, run_ms = tasks.stage[measured], tasks.figures["run_ms"][measured].astype(np.float64)
    known = np.bincount(stage, minlength=count)
    quartiles = tuple(_quantiles(stage, run_ms, known, share) for share in (0, 0.25, 0.5, 0.75, 1))
    least, quarter, median, three_quarters, most = quartiles
    limit = np.maximum(three_quarters + _FENCE * (three_quarters - quarter), _TIMES_MEDIAN * median)
    width = np.where(most > least, most - least, 1)
    bars = np.minimum(((run_ms - least[stage]) / width[stage] * BINS).astype(np.int64), BINS - 1)
    filled, counts = np.unique(stage * BINS + bars, return_counts=True)
    read = tasks.figures["read_bytes"][measured]
    has = read >= 0
    return StageTimes(
        known,
        quartiles,
        limit,
        np.bincount(stage[run_ms > limit[stage]], minlength=count),
        _quantiles(stage[has], read[has].astype(np.float64), np.bincount(stage[has], minlength=count), 0.5),
        (filled // BINS, filled % BINS, counts.astype(np.int64)),
    )


def paces(tasks: TaskColumns, times: StageTimes) -> Floats:
    """Each task's run time over the median of its stage; NaN where it is not measured or alone in its stage."""
    run_ms = tasks.figures["run_ms"].astype(np.float64)
    median = np.maximum(times.quartiles[2], 1)[tasks.stage] if len(tasks) else run_ms
    comparable = tasks.measured & (times.measured[tasks.stage] > 1)
    return np.where(comparable, run_ms / np.where(comparable, median, 1), np.nan)


def host_rows(tasks: TaskColumns, pace: Floats) -> list[GroupRow]:
    """By host, the one with the most task time first."""
    rows = [_group(tasks, pace, tasks.host == place, name) for place, name in enumerate(tasks.hosts) if name]
    return sorted((row for row in rows if row.tasks), key=lambda row: (-row.task_ms, row.name))


def locality_rows(tasks: TaskColumns, pace: Floats) -> list[GroupRow]:
    """By locality level, from the nearest on; those that Spark did not name last."""
    levels = [*enumerate(LOCALITIES), (-1, "not known")]
    rows = [_group(tasks, pace, tasks.locality == place, name) for place, name in levels]
    return [row for row in rows if row.tasks]


def longest_rows(tasks: TaskColumns, pace: Floats) -> list[LongRow]:
    """The longest tasks by launch to end, the longest first."""
    rows = []
    for row in np.lexsort((tasks.launch, -tasks.duration))[:MOST_LONGEST].tolist():
        number, attempt = tasks.stages[tasks.stage[row]]
        figures = {name: int(values[row]) for name, values in tasks.figures.items()}
        locality = int(tasks.locality[row])
        rows.append(
            LongRow(
                figures["task"],
                f"{number}.{attempt}" if attempt else str(number),
                tasks.executors[tasks.executor[row]],
                tasks.hosts[tasks.host[row]],
                STATUSES[tasks.status[row]],
                LOCALITIES[locality] if locality >= 0 else "",
                int(tasks.launch[row]),
                int(tasks.duration[row]),
                None if np.isnan(pace[row]) else float(pace[row]),
                *(None if figures[name] < 0 else figures[name] for name in _LONG_FIGURES),
            )
        )
    return rows


_LONG_FIGURES: Final = ("cpu_ms", "gc_ms", "fetch_ms", "read_bytes", "spilled_bytes")


def _group(tasks: TaskColumns, pace: Floats, here: Ints, name: str) -> GroupRow:
    run_ms = tasks.figures["run_ms"]
    measured, own = run_ms[here & tasks.measured], pace[here]
    own = own[~np.isnan(own)]

    def share(figure: str) -> float | None:
        values = tasks.figures[figure]
        both = here & (run_ms >= 0) & (values >= 0)
        return float(values[both].sum() / run_ms[both].sum()) if run_ms[both].sum() > 0 else None

    return GroupRow(
        name,
        int(here.sum()),
        int((here & (tasks.status == FAILED)).sum()),
        int(tasks.duration[here].sum()),
        float(np.median(measured)) if len(measured) else None,
        float(np.median(own)) if len(own) else None,
        share("gc_ms"),
        share("fetch_ms"),
    )


def _quantiles(group: Ints, values: Floats, counts: Ints, share: float) -> Floats:
    """A quantile of the values of each group, linear between values as numpy's; NaN where a group has none."""
    if not len(values):
        return np.full(len(counts), np.nan)
    ordered = values[np.lexsort((values, group))]
    first = np.cumsum(counts) - counts
    at = np.maximum(counts - 1, 0) * share
    low = np.minimum(first + np.floor(at).astype(np.int64), len(values) - 1)
    high = np.minimum(first + np.ceil(at).astype(np.int64), len(values) - 1)
    between = ordered[low] + (ordered[high] - ordered[low]) * (at - np.floor(at))
    return np.where(counts > 0, between, np.nan)
