"""The task attempts of a run for its page: packed columns for the timeline, rows for the tables behind it.

`web/tasks/task_table.js` is the other side of `packed`; it names each column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from emberscope.profile.single_tasks import SLOW, single_tasks
from emberscope.report.columns import Values, pack_columns
from emberscope.report.task_columns import FAILED, STATUSES, TaskColumns, task_columns
from emberscope.report.task_lanes import MOST_TASKS, folded, kept, slots
from emberscope.report.task_rows import (
    GroupRow,
    LongRow,
    StageTimes,
    host_rows,
    locality_rows,
    longest_rows,
    paces,
    stage_times,
)
from emberscope.report.visible import clipped, visible
from emberscope.simulate.cores import observed_window

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True)
class TaskPart:
    """What the part of the tasks shows. `folded` of the `total` attempts are no single bars, with `folded_ms` of time.

    `clocked` says whether times count from the start of the application, as the flame graph's do.
    """

    packed: str
    total: int
    counts: Mapping[str, int]
    undrawn: int
    folded: int
    folded_ms: int
    clocked: bool
    hosts: list[GroupRow]
    localities: list[GroupRow]
    longest: list[LongRow]


def task_part(run: Run, stage_words: Mapping[tuple[int, int], str], most: int = MOST_TASKS) -> TaskPart | None:
    """None where no task attempt with its times is known. `stage_words` say what a stage attempt is."""
    tasks = task_columns(run)
    if not len(tasks):
        return None
    keep, times = kept(tasks, FAILED, most), stage_times(tasks)
    pace = paces(tasks, times)
    return TaskPart(
        pack_columns(_packed(run, tasks, keep, times, stage_words)),
        len(tasks),
        {name: int((tasks.status == place).sum()) for place, name in enumerate(STATUSES)},
        tasks.undrawn,
        int((~keep).sum()),
        int(tasks.duration[~keep].sum()),
        run.application.app_start_ms is not None,
        host_rows(tasks, pace),
        locality_rows(tasks, pace),
        longest_rows(tasks, pace),
    )


def _packed(
    run: Run,
    tasks: TaskColumns,
    keep: npt.NDArray[np.bool_],
    times: StageTimes,
    stage_words: Mapping[tuple[int, int], str],
) -> dict[str, Values]:
    executors, places = _executors(run, tasks)
    executor = places[tasks.executor]
    window = observed_window(run)
    end_ms = max(int(tasks.finish.max()), 0 if window is None else window[1] - tasks.start_ms)
    rest = folded(executor[~keep], tasks.launch[~keep], tasks.finish[~keep], end_ms)
    own = {name: values[keep] for name, values in tasks.figures.items()}
    groups = _told_apart(run)
    single = np.array([groups.get(task, 0) for task in own["task"].tolist()], np.int64)
    launch, finish = tasks.launch[keep], tasks.finish[keep]
    kind = tasks.status[keep] | tasks.speculative[keep] << 2 | single << 3
    kind |= (tasks.locality[keep] + 1) << 5 | np.maximum(own.pop("attempt"), 0) << 8
    run_ms = own.pop("run_ms")
    stages = len(tasks.stages)
    words = [_seen(stage_words.get(key, "")) for key in tasks.stages]
    numbers = {
        "span": np.array([end_ms, rest.piece_ms]),
        "launch": launch,
        "duration": finish - launch,
        "executor": executor[keep],
        "slot": slots(executor[keep], launch, finish, np.asarray(executors["executor_cores"])),
        "stage": tasks.stage[keep],
        "kind": kind,
        # Little more than nothing where the body is most of the task: the difference packs better than the time.
        "outside": np.where(run_ms >= 0, finish - launch - run_ms, -(2**31)),
        **own,
        "stage_id": np.array([number for number, _ in tasks.stages]),
        "stage_attempt": np.array([attempt for _, attempt in tasks.stages]),
        "stage_sql": _executions(run, tasks),
        "stage_tasks": np.bincount(tasks.stage, minlength=stages),
        "stage_folded": np.bincount(tasks.stage[~keep], minlength=stages),
        "stage_ms": np.clip(
            np.bincount(tasks.stage, np.maximum(tasks.figures["run_ms"], 0), minlength=stages), 0, 2**31 - 1
        ).astype(np.int64),
        "stage_measured": times.measured,
        "stage_stragglers": times.stragglers,
        "bin_stage": times.bins[0],
        "bin_place": times.bins[1],
        "bin_count": times.bins[2],
        "fold_executor": rest.executor,
        "fold_piece": rest.piece,
        "fold_busy": rest.busy_ms,
    }
    floats = {f"stage_q{place}": values for place, values in enumerate(times.quartiles)}
    floats |= {"stage_limit": times.limit_ms, "stage_read": times.median_read_bytes}
    reasons = [
        None if reason is None else _seen(reason) for reason, has in zip(tasks.reasons, keep, strict=True) if has
    ]
    return {
        **{name: _narrowed(values) for name, values in numbers.items()},
        **floats,
        "reason": reasons,
        "stage_words": words,
        **executors,
    }


def _executors(run: Run, tasks: TaskColumns) -> tuple[dict[str, Values], npt.NDArray[np.int64]]:
    """The executors as columns, in the order in which they came, and the place of each of `tasks.executors`.

    Those that only tasks name stand last.
    """
    table = run.tables.get("executors")
    known: list[dict[str, Any]] = [] if table is None else table.to_pylist()
    known.sort(key=lambda row: (row["added_ms"] or 0, len(row["executor_id"] or ""), row["executor_id"] or ""))
    by_id: dict[str, int] = {}
    for place, row in enumerate(known):
        by_id.setdefault(row["executor_id"] or "", place)
    hosts = dict(zip(tasks.executor.tolist(), tasks.host.tolist(), strict=True))
    for place, one in enumerate(tasks.executors):
        if by_id.setdefault(one, len(known)) == len(known):
            known.append({"executor_id": one})
        row = known[by_id[one]]
        row["host"] = row.get("host") or (tasks.hosts[hosts[place]] if place in hosts else "")

    def since(name: str) -> npt.NDArray[np.float64]:
        times = [row.get(name) for row in known]
        return np.array([np.nan if ms is None else max(ms - tasks.start_ms, 0) for ms in times], np.float64)

    columns: dict[str, Values] = {
        "executor_id": [_seen(row["executor_id"] or "") for row in known],
        "executor_host": [_seen(row["host"] or "") for row in known],
        "executor_cores": np.array([row.get("cores") or 0 for row in known], np.int64),
        "executor_added": since("added_ms"),
        "executor_removed": since("removed_ms"),
        "executor_reason": [_seen(row.get("removed_reason") or "") for row in known],
    }
    return columns, np.array([by_id[one] for one in tasks.executors], np.int64)


def _told_apart(run: Run) -> dict[int, int]:
    """The tasks that the flame graph has columns of their own for: 1 for the slow ones of a stage, 2 for the median."""
    samples, tasks = run.tables.get("samples"), run.tables.get("tasks")
    if samples is None or tasks is None:
        return {}
    known = samples.select(["task_id", "event"]).filter(pc.is_valid(samples["event"]))
    sampled = set(pc.unique(known["task_id"]).to_pylist())
    return {one.task_id: 1 if one.group == SLOW else 2 for one in single_tasks(tasks) if one.task_id in sampled}


def _executions(run: Run, tasks: TaskColumns) -> npt.NDArray[np.int64]:
    """The SQL execution of each of `tasks.stages`, -1 where it ran for none."""
    table = run.tables.get("stages")
    rows = [] if table is None else table.select(["stage_id", "stage_attempt", "sql_execution_id"]).to_pylist()
    found = {(row["stage_id"], row["stage_attempt"]): row["sql_execution_id"] for row in rows}
    return np.array([-1 if found.get(key) is None else found[key] for key in tasks.stages], np.int64)


def _seen(text: str) -> str:
    return visible(clipped(text, _LONGEST_WORDS))


def _narrowed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Integers that need more than 32 bits as floats, which hold them exactly to 2^53."""
    wide = len(values) and (int(values.min()) < -(2**31) or int(values.max()) >= 2**31)
    return values.astype(np.float64) if wide else values
