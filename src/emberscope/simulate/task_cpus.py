"""Cores that each task occupies, and what of Spark's run time is wall time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# Since this version `Executor Run Time` is wall time in the task's body times the cores of the task.
_MULTIPLIED_SINCE: Final = (4, 1)
_MOST_CPUS: Final = 10_000


@once
def default_task_cpus(run: Run) -> int:
    """Cores of a task of the default resource profile: `spark.task.cpus`, 1 where it is not set or nothing that a
    machine has."""
    try:
        cpus = int(run.setting("spark.task.cpus") or 1)
    except ValueError:
        return 1
    return cpus if 1 <= cpus <= _MOST_CPUS else 1


@once
def task_cpus(run: Run) -> dict[tuple[int, int], int]:
    """Cores of a task by stage attempt, where its resource profile asks for another number than the default."""
    profiles, stages = run.tables.get("resource_profiles"), run.tables.get("stages")
    if profiles is None or stages is None or not profiles.num_rows:
        return {}
    asked = {
        row["resource_profile_id"]: max(1, int(row["amount"]))
        for row in profiles.select(["resource_profile_id", "scope", "resource", "amount"]).to_pylist()
        if row["scope"] == "task" and row["resource"] == "cpus" and row["amount"] is not None and row["amount"] >= 1
    }
    usual = default_task_cpus(run)
    return {
        (row["stage_id"], row["stage_attempt"]): asked[row["resource_profile_id"]]
        for row in stages.select(["stage_id", "stage_attempt", "resource_profile_id"]).to_pylist()
        if asked.get(row["resource_profile_id"], usual) != usual
    }


def is_multiplied(run: Run) -> bool:
    """Whether Spark's run time of a task is to be divided by the cores of the task to be wall time."""
    return run.application.version >= _MULTIPLIED_SINCE


@once
def run_ms_by_task(run: Run) -> NDArray[np.float64]:
    """Wall time in the body of each row of table `tasks`, in ms; NaN where it is not known."""
    tasks = run.tables["tasks"]
    run_ms = np.asarray(tasks["executor_run_time_ms"].to_numpy(), dtype=np.float64)
    if not is_multiplied(run):
        return run_ms
    run_ms = run_ms / default_task_cpus(run)
    if task_cpus(run):
        stages, attempts = tasks["stage_id"].to_numpy(), tasks["stage_attempt"].to_numpy()
        for (stage, attempt), cpus in task_cpus(run).items():
            run_ms[(stages == stage) & (attempts == attempt)] *= default_task_cpus(run) / cpus
    return run_ms


def cpus_by_row(run: Run, name: str) -> NDArray[np.int64]:
    """Cores that each row of table `tasks` or `running_tasks` occupies."""
    table = run.tables[name]
    cpus = np.full(table.num_rows, default_task_cpus(run), dtype=np.int64)
    if task_cpus(run):
        stages, attempts = table["stage_id"].to_numpy(), table["stage_attempt"].to_numpy()
        for (stage, attempt), asked in task_cpus(run).items():
            cpus[(stages == stage) & (attempts == attempt)] = asked
    return cpus
