"""Wall time shared out exactly: each instant of the application belongs to what happened then, in equal core shares.

While tasks occupy `k` of `C` cores, each occupied core owns 1/C of the instant and the idle cores own the rest; with no
task running the instant belongs to waiting (a job is active) or to the driver alone (none is). A task occupies as many
cores as Spark sets aside for it (`spark.task.cpus`, or its resource profile).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.simulate.cores import core_steps, cores_at, observed_window
from emberscope.simulate.task_cpus import cpus_by_row
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Shares(Struct, frozen=True):
    """Wall time in ms by owner; all sum to `duration_ms`. `task_ms` lies in the rows of table tasks;
    `unended_ms` is that of table running_tasks."""

    duration_ms: int
    driver_ms: float
    before_first_job_ms: float
    after_last_job_ms: float
    waiting_ms: float
    without_executor_ms: float
    idle_ms: float
    unended_ms: float
    task_ms: NDArray[np.float64]


class Steps(Struct, frozen=True):
    """The application cut into pieces in which nothing changes: edges in epoch ms (one more than pieces), and by piece
    the running tasks, the cores that they occupy, the active jobs, the cores (None where no executor is known)."""

    edges: NDArray[np.float64]
    running: NDArray[np.int64]
    occupied: NDArray[np.int64]
    jobs: NDArray[np.int64]
    cores: NDArray[np.int64] | None

    @property
    def lengths_ms(self) -> NDArray[np.float64]:
        return np.diff(self.edges)


@once
def steps(run: Run) -> Steps | None:
    """The pieces of the observed time; None where start or end of the application are not known."""
    window = observed_window(run)
    if window is None:
        return None
    launched, finished = _all_tasks(run, window)
    submitted, completed = _intervals(run, "jobs", "submitted_ms", "completed_ms", window)
    changes = core_steps(run)
    inside = changes[0][(changes[0] > window[0]) & (changes[0] < window[1])] if changes is not None else np.array([])
    edges = _in_order(np.concatenate((np.array(window), launched, finished, submitted, completed, inside)))
    edges = edges[np.diff(edges, prepend=-np.inf) > 0]
    starts = edges[:-1]
    running, cpus = active(starts, launched, finished), _cpus_of_all_tasks(run)
    alike = not len(cpus) or bool((cpus == cpus[0]).all())
    return Steps(
        edges,
        running,
        running * (cpus[0] if len(cpus) else 1) if alike else active(starts, launched, finished, cpus),
        active(starts, submitted, completed),
        None if changes is None else cores_at(changes, starts),
    )


@once
def shares(run: Run) -> Shares | None:
    """Who owned the wall time; None where start or end of the application are not known."""
    pieces, window = steps(run), observed_window(run)
    if pieces is None or window is None:
        return None
    lengths, occupied, jobs = pieces.lengths_ms, pieces.occupied, pieces.jobs
    peak = int(occupied.max(initial=0))
    # A log without executors still shows how many cores there were at least.
    cores = np.maximum(occupied, peak if pieces.cores is None else pieces.cores)
    busy = pieces.running > 0
    share = np.divide(lengths, cores, out=np.zeros_like(lengths), where=busy)
    idle_ms = float((share * (cores - occupied))[busy].sum())
    total = np.concatenate(([0.0], np.cumsum(share)))
    launched, finished = _all_tasks(run, window)
    owned = np.interp(finished, pieces.edges, total) - np.interp(launched, pieces.edges, total)
    owned = owned * _cpus_of_all_tasks(run)
    tasks = run.tables.get("tasks")
    ended = 0 if tasks is None else tasks.num_rows
    waiting = ~busy & (jobs > 0)
    no_executor = waiting & (pieces.cores == 0) if pieces.cores is not None else np.zeros_like(waiting)
    alone = ~busy & (jobs == 0)
    active = np.flatnonzero(jobs > 0)
    first, last = (active[0], active[-1]) if len(active) else (len(lengths), len(lengths))
    index = np.arange(len(lengths))
    return Shares(
        window[1] - window[0],
        float(lengths[alone].sum()),
        float(lengths[alone & (index < first)].sum()),
        float(lengths[alone & (index > last)].sum()),
        float(lengths[waiting & ~no_executor].sum()),
        float(lengths[no_executor].sum()),
        idle_ms,
        float(owned[ended:].sum()),
        owned[:ended],
    )


def _all_tasks(run: Run, window: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and ends of table tasks, then of table running_tasks."""
    ended = _intervals(run, "tasks", "launch_ms", "finish_ms", window)
    running = _intervals(run, "running_tasks", "launch_ms", "until_ms", window)
    return np.concatenate((ended[0], running[0])), np.concatenate((ended[1], running[1]))


def _cpus_of_all_tasks(run: Run) -> NDArray[np.int64]:
    """The cores that each task of `_all_tasks` occupies."""
    names = [name for name in ("tasks", "running_tasks") if name in run.tables]
    return np.concatenate([np.array([], dtype=np.int64), *(cpus_by_row(run, name) for name in names)])


def _intervals(
    run: Run, name: str, start: str, end: str, window: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and ends of a table's rows, cut to the window. What has not ended lasts until its end; a row whose start
    is not known gets an empty interval."""
    table = run.tables.get(name)
    if table is None or table.num_rows == 0:
        return np.array([]), np.array([])
    starts = np.asarray(table[start].to_numpy(), dtype=np.float64)
    ends = np.asarray(table[end].to_numpy(), dtype=np.float64)
    unknown = np.isnan(starts)
    ends = np.where(np.isnan(ends), float(window[1]), ends)
    starts = np.clip(np.where(unknown, window[1], starts), *window)
    ends = np.clip(np.where(unknown, window[1], ends), *window)
    return starts, np.maximum(starts, ends)


def _in_order(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sorted by the method that gains most from what is nearly in order already, as events of a log are."""
    return np.sort(times, kind="stable")


def active(
    at: NDArray[np.float64],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    weights: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """How many of the intervals hold each of these times (begun by then, not ended), or the sum of their weights."""
    return _until(at, starts, weights) - _until(at, ends, weights)


def _until(at: NDArray[np.float64], times: NDArray[np.float64], weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """How many of `times` lie at or before each of `at`, or the sum of their weights."""
    if weights is None:
        return np.searchsorted(_in_order(times), at, side="right").astype(np.int64)
    order = np.argsort(times, kind="stable")
    sums = np.concatenate(([0], np.cumsum(weights[order])))
    return np.asarray(sums[np.searchsorted(times[order], at, side="right")], dtype=np.int64)
