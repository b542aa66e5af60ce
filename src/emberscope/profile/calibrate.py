"""CPU samples weighed by what the threads of their tasks measured: a figure beside the raw counts, never mixed in.

A sampler that sees no native code, or only some threads of a tick, counts less CPU than there was, and not the same
share of it everywhere. The thread of a task knows its CPU time exactly. So the samples of a task share out what its
thread used: how much CPU a task or stage took is then as exact as the thread's clock. What stays the sampler's is how
the CPU of one task divides among its stacks.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.attribute import codes, intervals, plain

LABEL: Final = "calibrated by thread CPU time"

StageKey = tuple[int, int]

_TASK: Final = ("role", "executor_id", "task_id")


@dataclass(frozen=True, slots=True)
class ThreadCpu:
    """CPU time of the threads of some tasks, times in ns. Two of different tasks add.

    `tasks` are those whose thread was measured from start to end, `cpu_ns` what they used: `in_samples_ns` of it is
    shared out to their samples, `not_seen_ns` was used by the `tasks_not_seen` that have no sample.
    `tasks_not_measured` have no figure: they were not seen to end, or their recorder could not tell.
    """

    tasks: int = 0
    cpu_ns: int = 0
    in_samples_ns: int = 0
    not_seen_ns: int = 0
    tasks_not_seen: int = 0
    tasks_not_measured: int = 0

    def __add__(self, other: ThreadCpu) -> ThreadCpu:
        return ThreadCpu(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """`weights` (int64, ns, one for each sample): the share of its task's thread CPU, -1 for samples without one.

    The weights of a measured task's samples sum to its CPU time, to the nanosecond. `stages` tells it by stage attempt.
    """

    weights: npt.NDArray[np.int64]
    stages: dict[StageKey, ThreadCpu]

    @property
    def whole(self) -> ThreadCpu:
        return sum(self.stages.values(), ThreadCpu())


def calibrate(samples: pa.Table, spans: pa.Table) -> Calibration:
    """The CPU time of task threads, shared out to the CPU samples inside the spans of their tasks.

    A sample weighs by its `count`. Samples that are not of CPU, or lie just outside the span, where the thread was not
    measured, weigh nothing here. `samples` are attributed already (`profile.attribute`).
    """
    weights = np.full(samples.num_rows, -1, np.int64)
    if not spans.num_rows:
        return Calibration(weights, {})
    tasks = intervals(spans)
    rows = _task_rows(samples, tasks)
    inside = np.flatnonzero(rows >= 0)
    used = tasks["cpu_ns"].fill_null(-1).to_numpy()
    rows, counts = rows[inside], samples["count"].fill_null(0).to_numpy()[inside]
    seen = np.bincount(rows, counts, tasks.num_rows)
    counted = (counts > 0) & (used[rows] >= 0)
    weights[inside[counted]] = _shares(rows[counted], counts[counted], used)
    return Calibration(weights, _by_stage(tasks, used, seen > 0))


def calibrated_samples(samples: pa.Table, calibration: Calibration) -> pa.Table:
    """The samples that have a share, with it as their `value` in ns."""
    kept = calibration.weights >= 0
    column = samples.schema.get_field_index("value")
    chosen = samples.filter(pa.array(kept))
    return chosen.set_column(column, samples.schema.field(column), pa.array(calibration.weights[kept]))


def _task_rows(samples: pa.Table, tasks: pa.Table) -> npt.NDArray[np.int64]:
    """The row of its task for each CPU sample inside a span, -1 for all others."""
    both = codes([pa.chunked_array([*plain(tasks[name]), *plain(samples[name])]) for name in _TASK])
    of_task, of_sample = both[: tasks.num_rows], both[tasks.num_rows :]
    row_of = np.full(int(both.max(initial=0)) + 1, -1, np.int64)
    row_of[of_task] = np.arange(tasks.num_rows)
    is_mine = pc.and_(pc.equal(samples["event"], "cpu"), pc.fill_null(samples["in_span"], False))
    return np.where(pc.fill_null(is_mine, False).to_numpy(), row_of[of_sample], -1)


def _shares(
    rows: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], used: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """What each sample gets of `used[row]`: in whole ns, by differences of running sums, so that nothing gets lost."""
    order = np.argsort(rows, kind="stable")
    rows, counts = rows[order], counts[order]
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1])) if len(rows) else np.zeros(0, np.int64)
    running = np.cumsum(counts)
    sizes = np.diff(np.append(starts, len(rows)))
    before = np.repeat(running[starts] - counts[starts], sizes)
    whole = np.repeat(running[starts + sizes - 1], sizes) - before
    until = np.floor(used[rows] * ((running - before) / whole)).astype(np.int64)
    shares = until.copy()
    shares[1:] -= np.where(rows[1:] == rows[:-1], until[:-1], 0)
    result = np.empty_like(shares)
    result[order] = shares
    return result


def _by_stage(tasks: pa.Table, used: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_]) -> dict[StageKey, ThreadCpu]:
    measured = used >= 0
    spent = np.where(measured, used, 0)
    columns = {
        "tasks": measured,
        "cpu_ns": spent,
        "in_samples_ns": np.where(seen, spent, 0),
        "not_seen_ns": np.where(seen, 0, spent),
        "tasks_not_seen": measured & ~seen & (spent > 0),
        "tasks_not_measured": ~measured,
    }
    table = pa.table(
        {"stage": tasks["stage_id"], "attempt": tasks["stage_attempt"]}
        | {name: pa.array(values.astype(np.int64)) for name, values in columns.items()}
    )
    sums = table.group_by(["stage", "attempt"]).aggregate([(name, "sum") for name in columns]).to_pylist()
    return {
        (row["stage"], row["attempt"]): ThreadCpu(*(row[f"{name}_sum"] for name in columns))
        for row in sums
        if row["stage"] is not None and row["attempt"] is not None
    }
