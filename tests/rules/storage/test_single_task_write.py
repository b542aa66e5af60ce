from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.evaluate import evaluate
from emberscope.rules.storage.single_task_write import RULE
from tests.rules.storage.logs import fault
from tests.rules.storage.written import writing
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

ONE = {"count": 1, "columns": "", "run_ms": 40_000}


def test_finds_the_coalesce_that_drew_the_work_into_one_task() -> None:
    (finding,) = found(RULE, fault("single_thread_write"))
    assert finding.confidence == 0.85
    assert "`coalesce(1)` asked for it" in finding.summary
    assert "Leave out `.coalesce(1)`" in finding.advice[0].text
    # The work of one task on eight cores, less what eight tasks cost to start.
    run_ms = finding.evidence[0].value or 0
    assert run_ms > 16_000
    assert finding.wasted_wall_ms == pytest.approx(run_ms * 7 / 8, rel=0.2)


def test_its_twin_writes_with_all_tasks() -> None:
    assert found(RULE, fault("single_thread_write_healthy")) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python", "files"])
def test_silent_on_applications_that_write_nothing_for_long(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_a_shuffle_into_one_partition_is_named() -> None:
    (finding, *_) = RULE.check(spark_wrote("files"), structs.replace(RULE.limits, floor_ms=1, app_ratio=0.0))
    assert finding.wasted_core_ms is not None


def test_the_work_is_spread_over_the_cores() -> None:
    (finding,) = found(RULE, writing(1, 1 << 20, **ONE))
    assert finding.wasted_wall_ms == 40_000 - 20_050
    assert finding.wasted_core_ms == 40_000
    assert finding.confidence == 0.6


@pytest.mark.parametrize(
    "other",
    [{"count": 2}, {"run_ms": 4_000}, {"stages": {"task_count": 9}}],
)
def test_more_tasks_short_ones_or_no_output_are_not_told(other: dict[str, int]) -> None:
    more = {"files": 1, "size_bytes": 1 << 20, **ONE, **other}
    assert found(RULE, writing(**more)) == []


def test_a_loop_of_writes_is_one_finding() -> None:
    clock = range(0, 80_000, 20_000)
    run = run_of(
        80_000,
        tasks=[task(i, at, 20_000, output_bytes=1_000) for i, at in enumerate(clock)],
        stages=[stage(i, at, at + 20_000, job_id=i, name="csv at daily.py:7") for i, at in enumerate(clock)],
        jobs=[job(i, at, at + 20_000) for i, at in enumerate(clock)],
        executors=[executor("1", 2)],
    )
    (finding,) = found(RULE, run)
    assert finding.title == "4 stages wrote their whole output with one task each"
    assert finding.wasted_wall_ms == 4 * (20_000 - 10_050)


def test_idle_cores_stand_under_the_only_task() -> None:
    run = writing(1, 1 << 20, **{**ONE, "run_ms": 300_000})
    codes = [(ranked.rule.code, ranked.caused_by) for ranked in evaluate(run).findings]
    assert codes[0] == ("E10", ())
    assert all(causes == (0,) for code, causes in codes if code == "A2")
