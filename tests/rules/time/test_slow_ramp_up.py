from __future__ import annotations

import pytest

from emberscope.rules.time.slow_ramp_up import RULE
from emberscope.tables.run import Run
from tests.rules.time.shapes import settings_of
from tests.runs import executor, found, job, run_of, stage, task

DYNAMIC = {"spark.dynamicAllocation.enabled": "true", "spark.master": "yarn"}


def ramp(late_ms: float, conf: dict[str, str], *, tasks: int = 100, first_cores: int = 2) -> Run:
    """Tasks of 2 s, ready at 1 s, on one executor, and on two more of 8 cores in all from `late_ms` on."""
    rows, free = [], [1_000.0] * first_cores + [late_ms] * (10 - first_cores)
    for index in range(tasks):
        slot = free.index(min(free))
        rows.append(task(0, free[slot], 2_000, task_id=index, task_index=index, attempt=0))
        free[slot] += 2_000
    end_ms = max(row["finish_ms"] for row in rows)
    return run_of(
        end_ms + 1_000,
        conf=conf,
        tasks=rows,
        stages=[stage(0, 1_000, end_ms, task_count=tasks)],
        jobs=[job(0, 1_000, end_ms)],
        executors=[executor("1", first_cores), executor("2", 4, late_ms), executor("3", 6 - first_cores, late_ms)],
    )


def test_tasks_that_waited_for_executors_are_priced_by_the_cores_that_came() -> None:
    (finding,) = found(RULE, ramp(21_000, DYNAMIC))
    # For 20 s tasks waited for the 8 cores that were not there: 160 s of core time on 10 cores.
    assert finding.wasted_wall_ms == 16_000
    assert "The first job began with 2 of 10 cores" in finding.summary
    assert settings_of(finding)["spark.dynamicAllocation.initialExecutors"] == "2"


def test_without_dynamic_allocation_the_cluster_is_to_be_asked() -> None:
    (finding,) = found(RULE, ramp(21_000, {"spark.master": "yarn"}))
    assert settings_of(finding) == {}
    assert finding.advice[0].kind == "cluster"


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (ramp(5_000, DYNAMIC), "soon there"),
        (ramp(21_000, {"spark.master": "local[4]"}), "local"),
        (ramp(21_000, DYNAMIC, tasks=2), "no task waited"),
        (ramp(21_000, DYNAMIC, first_cores=6), "most cores were there"),
    ],
)
def test_ignores(run: Run, why: str) -> None:
    assert found(RULE, run) == [], why
