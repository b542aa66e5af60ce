"""A long run on many executors, made from a short recorded one: real stacks, spread over stages, tasks and time.

`spread(run)` keeps the recorded stacks, frames, plans and settings and replaces tasks, stages, executors and samples by
made ones. Stages follow one another; their tasks run on the slots as these get free, their run times are lognormal with
a few stragglers. Each running task has `hz` CPU samples a second, with the stacks of one recorded stage. All other
events come as often in each executor as in the recorded ones, with their recorded stacks and values, in and outside of
tasks. One sample in twenty lies at any node of the recorded tree, so that the made profile has the long tail that a
long run has. All is random by the seed alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.tables.catalog import TABLES
from emberscope.tables.run import Run
from emberscope.tables.samples import EVENTS

CATALOG = {table.name: table for table in TABLES}
TASK_SECONDS = 5.0
STAGE_SECONDS = 30
STAGES_OF_A_QUERY = 3
TAIL = 0.05


@dataclass(frozen=True, slots=True)
class Task:
    stage: int
    executor: int
    start_s: float
    end_s: float


def spread(run: Run, *, executors: int = 20, slots: int = 4, minutes: float = 30, hz: float = 20, seed: int = 7) -> Run:
    """A run of the same application as it would look on a cluster of this size. It starts at 0 ms."""
    random = np.random.default_rng(seed)
    tasks = scheduled(random, executors, slots, minutes * 60)
    tables = {
        **run.tables,
        "samples": _samples(random, run, tasks, executors, minutes * 60, hz),
        "tasks": _tasks(tasks),
        "stages": _stages(tasks, run),
        "executors": _executors(executors, slots),
    }
    for name in ("jobs", "executor_events", "running_tasks", "series", "spans", "accumulables"):
        tables[name] = CATALOG[name].empty()
    end_ms = int(minutes * 60_000)
    application = replace(run.application, app_start_ms=0, app_end_ms=end_ms, last_event_ms=end_ms)
    return replace(run, application=application, tables=tables)


def scheduled(random: np.random.Generator, executors: int, slots: int, seconds: float) -> list[Task]:
    """Tasks of one stage after the other, each on the slot that is free first: no slot waits for the end of a stage."""
    tasks: list[Task] = []
    free = [(2.0, slot) for slot in range(executors * slots)]
    count = int(executors * slots * STAGE_SECONDS / TASK_SECONDS)
    stage = 0
    while free[0][0] < seconds:
        runs = random.lognormal(np.log(TASK_SECONDS * 0.85), 0.5, count)
        runs[: max(1, count // 100)] *= 4
        for run_s in runs.tolist():
            start, slot = heapq.heappop(free)
            if start < seconds:
                tasks.append(Task(stage, slot // slots, start, min(start + run_s, seconds)))
            heapq.heappush(free, (start + run_s, slot))
        stage += 1
    return tasks


def _samples(
    random: np.random.Generator, run: Run, tasks: Sequence[Task], executors: int, seconds: float, hz: float
) -> pa.Table:
    """Samples of all recorded events in the order of time; times from 0."""
    counts = np.array([max(1, int((task.end_s - task.start_s) * hz)) for task in tasks])
    ticks = np.repeat(np.arange(len(tasks)), counts)  # the task of each CPU sample inside of a task
    starts = np.array([task.start_s for task in tasks])[ticks]
    ticks_s = starts + (np.arange(len(ticks)) - np.repeat(np.cumsum(counts) - counts, counts)) / hz
    stage_of, executor_of = (np.array([getattr(task, name) for task in tasks]) for name in ("stage", "executor"))
    recorded = run.tables["samples"]
    names = np.array(recorded["event"].cast(pa.string()).to_pylist(), dtype=object)
    stages = np.asarray(recorded["stage_id"].fill_null(-1).to_numpy())
    of_executors = pc.not_equal(recorded["role"].cast(pa.string()), "driver").to_numpy(zero_copy_only=False)
    recorded_s = (run.application.observed_ms or 1) / 1000 * len(pc.unique(recorded["executor_id"]).drop_null())
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
    for event in EVENTS:
        inside, outside = ((names == event) & of_executors & (stages >= 0), (names == event) & (stages < 0))
        wanted = len(ticks) if event == "cpu" else int(inside.sum() / recorded_s * executors * seconds)
        chosen = np.arange(len(ticks)) if event == "cpu" else random.integers(0, len(ticks), wanted)
        if inside.any():
            rows = _rows_by_stage(random, stages, inside, stage_of[ticks[chosen]])
            parts.append((rows, ticks[chosen], ticks_s[chosen]))
        if outside.any():
            more = int(outside.sum() / recorded_s * executors * seconds)
            rows = random.choice(np.flatnonzero(outside), more)
            parts.append((rows, np.full(more, -1), random.random(more) * seconds))
    rows, task_of, time_s = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(time_s, kind="stable")
    rows, task_of, time_s = rows[order], task_of[order], np.minimum(time_s[order], seconds - 0.001)
    nodes = recorded["stack"].to_numpy().astype(np.int32)[rows]
    tail = random.random(len(nodes)) < TAIL
    nodes[tail] = random.integers(1, run.tables["stacks"].num_rows, int(tail.sum()))
    process = np.where(task_of < 0, random.integers(-1, executors, len(task_of)), executor_of[task_of])
    known = [str(n + 1) for n in range(executors)] + ["driver"]
    table: pa.Table = CATALOG["samples"].from_columns(
        {
            "time_ns": (time_s * 1e9).astype(np.int64),
            **{name: recorded[name].take(pa.array(rows)) for name in ("event", "state", "count", "value")},
            "stack": nodes,
            "role": _category((process < 0).astype(np.int32), ["executor", "driver"]),
            "executor_id": _category(np.where(process < 0, executors, process), known),
            "stage_id": pa.array(stage_of[task_of], pa.int32(), mask=task_of < 0),
            "stage_attempt": pa.array(np.zeros(len(task_of)), pa.int32(), mask=task_of < 0),
            "task_id": pa.array(task_of, pa.int64(), mask=task_of < 0),
            "sql_execution_id": pa.array(stage_of[task_of] // STAGES_OF_A_QUERY, pa.int64(), mask=task_of < 0),
        }
    )
    return table


def _rows_by_stage(
    random: np.random.Generator, stages: npt.NDArray[np.int64], among: npt.NDArray[np.bool_], wanted: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """A recorded row for each wanted stage: made stages take turns among the recorded ones with a hundred samples."""
    counts = {stage: int((among & (stages == stage)).sum()) for stage in np.unique(stages[among]).tolist()}
    large = [stage for stage, count in counts.items() if count >= 100] or list(counts)
    rows = np.zeros(len(wanted), np.int64)
    for turn, stage in enumerate(large):
        here = wanted % len(large) == turn
        rows[here] = random.choice(np.flatnonzero(among & (stages == stage)), int(here.sum()))
    return rows


def _tasks(tasks: Sequence[Task]) -> pa.Table:
    count = len(tasks)
    starts = np.array([int(task.start_s * 1000) for task in tasks])
    runs = np.array([int((task.end_s - task.start_s) * 1000) for task in tasks])
    first = {stage: n for n, stage in reversed(list(enumerate(task.stage for task in tasks)))}
    zeros = np.zeros(count, np.int64)
    table: pa.Table = CATALOG["tasks"].from_columns(
        {
            "stage_id": np.array([task.stage for task in tasks], np.int32),
            "stage_attempt": np.zeros(count, np.int32),
            "task_id": np.arange(count),
            "task_index": np.array([n - first[task.stage] for n, task in enumerate(tasks)], np.int32),
            "attempt": np.zeros(count, np.int32),
            "executor_id": [str(task.executor + 1) for task in tasks],
            "host": [f"host-{task.executor + 1}" for task in tasks],
            "locality": ["PROCESS_LOCAL"] * count,
            "launch_ms": starts,
            "finish_ms": starts + runs,
            "status": ["success"] * count,
            "executor_run_time_ms": runs,
            "executor_cpu_time_ns": runs * 900_000,
            "gc_time_ms": runs // 50,
            "shuffle_read_local_bytes": runs * 1000,
            "shuffle_read_remote_bytes": runs * 19_000,
            "shuffle_write_bytes": runs * 10_000,
            **dict.fromkeys(("memory_spilled_bytes", "disk_spilled_bytes", "input_bytes", "output_bytes"), zeros),
        }
    )
    return table


def _stages(tasks: Sequence[Task], run: Run) -> pa.Table:
    names = run.tables["stages"]["name"].to_pylist() if run.tables["stages"].num_rows else ["stage"]
    rows: list[dict[str, Any]] = []
    for stage in range(max(task.stage for task in tasks) + 1):
        of_stage = [task for task in tasks if task.stage == stage]
        rows.append(
            {
                "stage_id": stage,
                "stage_attempt": 0,
                "name": names[stage % len(names)],
                "task_count": len(of_stage),
                "submitted_ms": int(min(task.start_s for task in of_stage) * 1000),
                "completed_ms": int(max(task.end_s for task in of_stage) * 1000),
                "status": "success",
                "sql_execution_id": stage // STAGES_OF_A_QUERY,
            }
        )
    table: pa.Table = CATALOG["stages"].from_rows(rows)
    return table


def _executors(count: int, slots: int) -> pa.Table:
    table: pa.Table = CATALOG["executors"].from_rows(
        [{"executor_id": str(n), "host": f"host-{n}", "cores": slots, "added_ms": 1000} for n in range(1, count + 1)]
    )
    return table


def _category(places: npt.NDArray[Any], values: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(values))
