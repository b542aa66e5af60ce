"""Rows of runs made by hand in which tasks, jobs and executors fail."""

from __future__ import annotations

from typing import Any

from tests.runs import START_MS, executor, job, stage, task


def failed(
    stage_id: int, launch_ms: float, run_ms: float, reason: str = "ExceptionFailure", **more: Any
) -> dict[str, Any]:
    """A task attempt that failed."""
    row = {"status": "failed", "reason": reason, "task_index": 0, "has_metrics": False, "executor_run_time_ms": None}
    return task(stage_id, launch_ms, run_ms, **{**row, **more})


def thrown(stage_id: int, launch_ms: float, attempt: int, text: str = "bad row", **more: Any) -> dict[str, Any]:
    """An attempt of task 0 that an exception ended after a second."""
    error = {"error_class": "java.lang.IllegalStateException", "error_message": text}
    return failed(stage_id, launch_ms, 1_000, **{"attempt": attempt, "task_id": 900 + attempt, **error, **more})


def ended_by(stage_id: int, index: int, submitted_ms: float, completed_ms: float, said: str = "boom") -> dict[str, Any]:
    """A job that ended because this task failed four times."""
    message = (
        f"Job aborted due to stage failure: Task {index} in stage {stage_id}.0 failed 4 times, most recent failure: "
        f"Lost task {index}.3 in stage {stage_id}.0 (TID 7) (10.0.0.1 executor 1): {said}"
    )
    more = {"status": "failed", "error_message": message, "stage_ids": [stage_id]}
    return {**job(0, submitted_ms, completed_ms), **more}


def failed_stage(stage_id: int, submitted_ms: float, completed_ms: float, **more: Any) -> dict[str, Any]:
    return stage(stage_id, submitted_ms, completed_ms, **{"status": "failed", "failure_reason": "failed", **more})


def removed(executor_id: str, removed_ms: float, reason: str, added_ms: float = 0, **more: Any) -> dict[str, Any]:
    return {**executor(executor_id, 4, added_ms, removed_ms), "removed_reason": reason, **more}


def epoch(ms: float) -> int:
    return START_MS + round(ms)
