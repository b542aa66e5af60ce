"""The samples of tasks as milliseconds of task time: what each of them stands for, by stage attempt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from msgspec import Struct

from emberscope.rules.stacks.marking import marks
from emberscope.rules.stacks.patterns import PATTERNS
from emberscope.simulate.stage_tasks import StageKey, stage_tasks
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# Waits on these are for the lock itself; other parked threads wait for work (our reading of java.util.concurrent).
LOCK_CLASSES: Final = r"java\.util\.concurrent\.locks\.(ReentrantLock|ReentrantReadWriteLock|StampedLock)\b.*"
_BLOCKED: Final = r"(?i).*(blocked|monitor).*"
# Native samples are rated in pieces of this length: long enough for each of 100 threads to be seen, one a tick.
_PIECE_NS: Final = 5_000_000_000


class TaskSamples(Struct, frozen=True):
    """Samples of tasks, one place each. `stage` is an index into `keys`, `task` the attempt (-1: not known).

    `working` are CPU samples (wall clock ones where there are no CPU samples) and what stands for them (`unseen`:
    allocation samples), `lock` waits for a lock, all others samples of waits and of native code. `ms` is the task time
    that each stands for: a CPU sample its part of the CPU time that Spark measured for the stage, so that the share
    counts and not the rate of the sampler.
    """

    keys: tuple[StageKey, ...]
    stage: NDArray[np.int64]
    task: NDArray[np.int64]
    node: NDArray[np.int64]
    count: NDArray[np.float64]
    ms: NDArray[np.float64]
    working: NDArray[np.bool_]
    unseen: NDArray[np.bool_]
    lock: NDArray[np.bool_]
    lock_class: pa.Array

    def samples_by_stage(self) -> NDArray[np.float64]:
        """Working samples of each stage."""
        return np.bincount(self.stage, self.count * self.working, len(self.keys)).astype(np.float64)

    def ms_by_stage(self) -> NDArray[np.float64]:
        """Task time of each stage that samples account for."""
        return np.bincount(self.stage, self.ms, len(self.keys)).astype(np.float64)


@once
def task_samples(run: Run) -> TaskSamples | None:
    """None where no sample belongs to a task."""
    samples = run.tables["samples"]
    if samples.num_rows == 0:
        return None
    node = np.clip(numbers(samples, "stack", 0), 0, max(0, run.tables["stacks"].num_rows - 1))
    stage, attempt = numbers(samples, "stage_id", -1), numbers(samples, "stage_attempt", 0)
    of_task = stage >= 0
    cpu, wall, native, alloc, lock = (
        having(samples, "event", name) & of_task for name in ("cpu", "wall", "native", "alloc", "lock")
    )
    lock &= _contended(samples)
    blocked = wall & having(samples, "state", _BLOCKED)
    wall &= ~blocked
    lock = lock if lock.any() else blocked
    pattern = marks(run).pattern[node]
    if cpu.any():
        computes = native & _flags("native")[pattern]
        unseen = alloc & _flags("unseen")[pattern]
        working, waiting = cpu | computes | unseen, wall if wall.any() else native & ~computes
    else:
        unseen, working, waiting = np.zeros_like(cpu), wall, np.zeros_like(cpu)
    ours = np.flatnonzero(working | waiting | lock)
    if not len(ours):
        return None
    pairs, which = np.unique(stage[ours] << 32 | attempt[ours], return_inverse=True)
    keys = tuple((int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs)
    ms = _single_ms(run, lock)
    if native.any():
        standing, working_ms = _native_ms(samples, _period_ms(run))
        ms[native] = standing[native]
        ms[working & native] = working_ms[working & native]
    if unseen.any():
        ms[unseen] = _unseen_ms(run, stage, attempt, working & ~unseen, ms, alloc)[unseen]
    return TaskSamples(
        keys,
        which.ravel().astype(np.int64),
        numbers(samples, "task_id", -1)[ours],
        node[ours],
        numbers(samples, "count", 1)[ours].astype(np.float64),
        _as_spark_measured(run, keys, which.ravel(), ms[ours], working[ours], (waiting & ~lock)[ours], bool(cpu.any())),
        working[ours],
        unseen[ours],
        lock[ours],
        samples["object_class"].cast(pa.string()).combine_chunks().take(pa.array(ours)),
    )


def _period_ms(run: Run) -> float:
    """The sampling period; the recorder's default where nobody says."""
    period = run.recorder.get("sample_period_ns")
    return float(period) / 1e6 if isinstance(period, int | float) else 20.0


def _flags(name: str) -> NDArray[np.bool_]:
    """This flag of each pattern; false in the last place, for no pattern."""
    return np.array([*(bool(getattr(pattern, name)) for pattern in PATTERNS), False])


def _single_ms(run: Run, lock: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What each row says that it stands for; the sampling period where it says nothing."""
    samples, period_ms = run.tables["samples"], _period_ms(run)
    value = np.asarray(samples["value"].cast(pa.float64()).to_numpy(), dtype=np.float64)
    # The length of a wait is that of the row, the period that of each of its samples.
    each = np.where(lock, 1.0, numbers(samples, "count", 1))
    ms: NDArray[np.float64] = np.where(np.isnan(value), np.where(lock, 0.0, period_ms), value / 1e6) * each
    return ms


def _unseen_ms(
    run: Run,
    stage: NDArray[np.int64],
    attempt: NDArray[np.int64],
    seen: NDArray[np.bool_],
    ms: NDArray[np.float64],
    alloc: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """CPU time of a stage that no sample shows, shared out over its allocation samples by their bytes."""
    result, weight = np.zeros(len(ms)), np.where(alloc, ms, 0.0)
    for tasks in stage_tasks(run):
        here = (stage == tasks.key[0]) & (attempt == tasks.key[1])
        whole = float(weight[here].sum())
        if whole > 0:
            cpu_ms = float(tasks.amounts("executor_cpu_time_ns").sum() / 1e6)
            result[here] = max(0.0, cpu_ms - float(ms[here & seen].sum())) * weight[here] / whole
    return result


def _as_spark_measured(
    run: Run,
    keys: tuple[StageKey, ...],
    stage: NDArray[np.int64],
    ms: NDArray[np.float64],
    working: NDArray[np.bool_],
    off: NDArray[np.bool_],
    by_cpu: bool,
) -> NDArray[np.float64]:
    """The same with the working samples of a stage scaled to its CPU time (run time where they are of the wall clock),
    and its waits to no more than the rest of its run time."""
    known = {tasks.key: tasks for tasks in stage_tasks(run)}
    factors = np.ones((2, len(keys)))
    work, rest = (np.bincount(stage[rows], ms[rows], len(keys)) for rows in (working, off))
    for index, key in enumerate(keys):
        tasks = known.get(key)
        if tasks is None:
            continue
        run_ms, cpu_ms = float(tasks.run_ms().sum()), float(tasks.amounts("executor_cpu_time_ns").sum() / 1e6)
        whole = cpu_ms if by_cpu else run_ms
        if work[index] > 0 and whole > 0:
            factors[0][index] = whole / work[index]
        left = max(0.0, run_ms - whole - float(tasks.amounts("gc_time_ms").sum()))
        if rest[index] > left and run_ms > 0:
            factors[1][index] = left / rest[index]
    result = ms.copy()
    result[working] *= factors[0][stage[working]]
    result[off] *= factors[1][stage[off]]
    return result


def _native_ms(samples: pa.Table, period_ms: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For every row what a sample of a thread in native code stands for, in ms: of the clock, and beside CPU samples.

    Flight Recorder looks at one such thread a tick, in turns, so a sample stands for more time the more of them there
    are. Among them is always one that never leaves native code (it waits for the network): the samples of the thread
    that has most of them in a piece of time stand for the whole piece. All samples of the piece are ticks of the
    sampler, which may come late on a busy machine; threads that run Java code are looked at in each tick.
    """
    rows = np.flatnonzero(having(samples, "event", "native"))
    process = samples["executor_id"].unify_dictionaries().combine_chunks().indices.fill_null(-1)
    where = np.asarray(process.to_numpy(), dtype=np.int64)[rows] + 1
    piece = numbers(samples, "time_ns", 0)[rows] // _PIECE_NS
    group = where * (int(np.ptp(piece)) + 1) + piece - piece.min()
    groups, of_row = np.unique(group, return_inverse=True)
    ids, of_id = np.unique(numbers(samples, "os_thread_id", 0)[rows], return_inverse=True)
    threads, of_thread = np.unique(of_row.ravel() * len(ids) + of_id.ravel(), return_inverse=True)
    count = numbers(samples, "count", 1)[rows].astype(np.float64)
    by_thread = np.bincount(of_thread.ravel(), count)
    most = np.ones(len(groups))
    np.maximum.at(most, threads // len(ids), by_thread)
    ticks = np.bincount(of_row.ravel(), count)
    standing, working = np.zeros(samples.num_rows), np.zeros(samples.num_rows)
    standing[rows] = count * _PIECE_NS / 1e6 / most[of_row.ravel()]
    working[rows] = count * period_ms * (ticks / most)[of_row.ravel()]
    return standing, working


def _contended(samples: pa.Table) -> NDArray[np.bool_]:
    """Rows that wait for a lock which another thread holds: monitors, and locks that park. Not the waits for a class to
    be initialised, which happens once: HotSpot does it under the monitor of an int[]."""
    held = ~having(samples, "variant", "park") | having(samples, "object_class", LOCK_CLASSES)
    return held & ~having(samples, "object_class", r"int\[\]|\[I")


def numbers(samples: pa.Table, name: str, missing: int) -> NDArray[np.int64]:
    """A column of whole numbers, `missing` where it is not known."""
    return np.asarray(samples[name].cast(pa.int64()).fill_null(missing).to_numpy(), dtype=np.int64)


def having(samples: pa.Table, name: str, expression: str) -> NDArray[np.bool_]:
    """At which rows a category matches an expression as a whole: its few values are looked at, not the rows."""
    column = samples[name].unify_dictionaries().combine_chunks()
    values = column.dictionary.to_pylist()
    matches = [value is not None and re.fullmatch(expression, value) is not None for value in values]
    # The last place stands for null.
    found: NDArray[np.bool_] = np.array([*matches, False])[np.asarray(column.indices.fill_null(-1).to_numpy())]
    return found
