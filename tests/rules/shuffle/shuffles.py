"""Runs with one stage that reads and writes shuffles, made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emberscope.tables.run import Run
from tests.runs import executor, job, run_of, stage, task


def shuffling(count: int, run_ms: int = 10_000, conf: Mapping[str, str] | None = None, **columns: Any) -> Run:
    """`count` tasks of an SQL stage on two cores, each with these columns; the application is the stage."""
    length = run_ms * -(-count // 2)
    return run_of(
        length,
        conf=conf,
        tasks=[task(0, run_ms * (i // 2), run_ms, task_id=i, task_index=i, **columns) for i in range(count)],
        stages=[stage(0, 0, length, sql_execution_id=0, task_count=count)],
        jobs=[job(0, 0, length)],
        executors=[executor("1", 2)],
    )


def advised(finding: Any) -> dict[str, str]:
    """The settings that a finding gives, by name."""
    return {advice.setting: advice.value for advice in finding.advice if advice.setting}
