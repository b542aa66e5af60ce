"""Stages of even tasks on a cluster of one's own size, for the rules about tasks and slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emberscope.tables.run import Run
from tests.runs import executor, job, run_of, stage, task


def one_stage(
    count: int,
    run_ms: float,
    *,
    cores: int = 8,
    overhead_ms: float = 0.0,
    conf: Mapping[str, str] | None = None,
    of_stage: Mapping[str, Any] | None = None,
    of_task: Mapping[str, Any] | None = None,
    nodes: list[dict[str, Any]] | None = None,
) -> Run:
    """An application that is one stage of `count` even tasks, each `overhead_ms` longer than its body, on `cores`."""
    length_ms = run_ms + overhead_ms
    rows, ends = [], [1_000.0] * cores
    for index in range(count):
        slot = ends.index(min(ends))
        more = {"task_id": index, "finish_ms": round(ends[slot] + length_ms), **(of_task or {})}
        rows.append(task(0, ends[slot], run_ms, **more))
        ends[slot] += length_ms
    end_ms = max(ends)
    return run_of(
        round(end_ms) + 1_000,
        conf=conf,
        tasks=rows,
        stages=[stage(0, 1_000, end_ms, task_count=count, **(of_stage or {}))],
        jobs=[job(0, 1_000, end_ms)],
        executors=[executor("1", cores)],
        plan_nodes=[{"sql_execution_id": 0, "stage_ids": [0], **node} for node in nodes or []],
    )


SQL = {"sql_execution_id": 0}
SHUFFLE = {"shuffle_read_local_bytes": 10 << 20}


def settings_of(finding: Any) -> dict[str, str]:
    """The settings that a finding advises."""
    return {advice.setting: advice.value for advice in finding.advice if advice.setting}
