"""Runs with a profile made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stack_tree import StackTree
from tests.runs import START_MS, executor, job, run_of, stage, task

TASK = "org.apache.spark.executor.Executor$TaskRunner.run"
CODE = "org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage1.processNext"
USER = "shop.Prices.of"


def sample(*frames: str, count: int = 1, stage_id: int | None = 0, event: str = "cpu", **more: Any) -> dict[str, Any]:
    """Samples of a stack under a task, root side first."""
    of_task = {} if stage_id is None else {"stage_id": stage_id, "stage_attempt": 0, "task_id": 1}
    time_ns = (START_MS + 1_000) * 1_000_000
    value = 20_000_000 if event == "cpu" else None
    row = {"frames": (TASK, *frames), "count": count, "event": event, "time_ns": time_ns, "value": value, **of_task}
    return {**row, "executor_id": "1", "os_thread_id": 7, **more}


def profiled(samples: Sequence[dict[str, Any]], run: Run | None = None) -> Run:
    """A run with these samples: by default one stage of 100 s on two cores, its tasks on the CPU for all their time."""
    tree = StackTree()
    rows = []
    for row in samples:
        node = tree.node([tree.frame(name) for name in row["frames"]])
        rows.append({**{key: value for key, value in row.items() if key != "frames"}, "stack": node})
    stacks, frames = tree.tables()
    run = run or one_stage()
    tables = {**run.tables, "samples": SAMPLES.from_rows(rows), "stacks": stacks, "frames": frames}
    return replace(run, tables=tables)


def one_stage(**more: Any) -> Run:
    return run_of(
        110_000,
        tasks=[task(0, 5_000, 100_000, task_id=number, **more) for number in (1, 2)],
        stages=[stage(0, 5_000, 105_000)],
        jobs=[job(0, 5_000, 105_000)],
        executors=[executor("1", 2)],
    )
