from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.time.job_gaps import RULE
from emberscope.tables.run import Run
from tests.rules.time.shapes import settings_of
from tests.runs import executor, found, job, run_of, stage, task

YARN = {"spark.master": "yarn"}


def held_back(locality: str, conf: dict[str, str] | None = None) -> Run:
    """20 tasks of 2 s, ready at 1 s, one after the other on one executor of two cores, while two others are idle."""
    rows = [task(0, 1_000 + 2_000 * (i // 2), 2_000, task_id=i, attempt=0, locality=locality) for i in range(20)]
    return run_of(
        22_000,
        conf={**YARN, **(conf or {})},
        tasks=rows,
        stages=[stage(0, 1_000, 21_000, task_count=20)],
        jobs=[job(0, 1_000, 21_000)],
        executors=[executor("1", 2), executor("2", 2), executor("3", 2)],
    )


def test_tasks_that_wait_for_a_place_near_to_their_data() -> None:
    (finding,) = found(RULE, held_back("NODE_LOCAL", {"spark.locality.wait": "60s"}))
    assert finding.where.stage == 0
    assert settings_of(finding) == {"spark.locality.wait": "0s"}
    # 4 of 6 cores were idle for 16 s, and for 2 s when two tasks were left; none waited in the last 2 s.
    assert finding.wasted_wall_ms == pytest.approx(16_000 * 4 / 6 + 2_000 * 2 / 6, abs=2)


@pytest.mark.parametrize(("locality", "conf"), [("ANY", {}), ("NODE_LOCAL", {"spark.task.resource.gpu.amount": "1"})])
def test_idle_cores_alone_do_not_show_why_tasks_wait(locality: str, conf: dict[str, str]) -> None:
    assert found(RULE, held_back(locality, conf)) == []


def in_job(gap_ms: int, **executor_times: Any) -> Run:
    """A job of two stages of 10 s, with a gap between them in which nothing is ready."""
    begin = 10_000 + gap_ms
    stages = [stage(0, 0, 10_000), stage(1, begin, begin + 10_000, parent_ids=[0])]
    return run_of(
        begin + 10_000,
        conf=YARN,
        tasks=[task(0, 0, 10_000, attempt=0), task(1, begin, 10_000, attempt=0)],
        stages=stages,
        jobs=[job(0, 0, begin + 10_000, description="load")],
        executors=[executor("1", 1, **executor_times)],
    )


def test_time_within_a_job_in_which_the_driver_worked() -> None:
    (finding,) = found(RULE, in_job(30_000))
    assert finding.wasted_wall_ms == 30_000
    assert finding.where.job == 0
    assert "job 0 (load)" in finding.summary
    assert found(RULE, in_job(5_000)) == []


def test_the_commit_after_a_write_is_told_by_another_rule() -> None:
    run = run_of(
        60_000,
        conf=YARN,
        tasks=[task(0, 0, 10_000, attempt=0, output_bytes=1 << 20)],
        stages=[stage(0, 0, 10_000)],
        jobs=[job(0, 0, 60_000, stage_ids=[0])],
        executors=[executor("1", 1)],
    )
    assert found(RULE, run) == []


def test_a_job_without_any_executor() -> None:
    run = run_of(
        60_000,
        conf=YARN,
        tasks=[task(0, 40_000, 10_000, attempt=0)],
        stages=[stage(0, 5_000, 50_000)],
        jobs=[job(0, 5_000, 50_000)],
        executors=[executor("1", 1, 40_000)],
    )
    (finding,) = found(RULE, run)
    assert finding.wasted_wall_ms == 35_000
    assert finding.advice[0].kind == "cluster"


@pytest.mark.parametrize(
    ("wait", "told"), [("60s", "1 min 00 s"), ("500", "500 ms"), ("forever", "3.0 s"), ("", "3.0 s")]
)
def test_what_is_no_time_is_told_as_what_spark_takes_without_it(wait: str, told: str) -> None:
    (finding,) = found(RULE, held_back("NODE_LOCAL", {"spark.locality.wait": wait}))
    assert f"they waited up to {told}." in finding.advice[0].text
