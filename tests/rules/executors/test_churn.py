from __future__ import annotations

from typing import Any

from emberscope.rules.executors.churn import RULE
from emberscope.tables.run import Run
from tests.rules.executors.failures import removed
from tests.rules.fault_logs import event_log, fault_log
from tests.runs import executor, found, run_of, task

DYNAMIC = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "60s"}


def test_finds_executors_that_took_each_others_place_in_a_public_log() -> None:
    (finding,) = found(RULE, fault_log("executor_churn"))
    assert finding.title == "8 of 15 executors took the place of one that had just been let go"
    assert finding.wasted_wall_ms is None
    assert finding.wasted_core_ms is not None
    assert {a.setting: a.value for a in finding.advice} == {"spark.dynamicAllocation.executorIdleTimeout": "90s"}


def test_silent_where_executors_stay() -> None:
    assert found(RULE, event_log("spark-4.3-retried.zstd")) == []


def coming_and_going(count: int, pause_ms: int, reason: str = "Executor killed by driver.", **more: Any) -> Run:
    """Executors one after the other: each lives 100 s, the next comes `pause_ms` later and waits 5 s for its task."""
    step = 100_000 + pause_ms
    executors = [removed(str(n), step * n + 100_000, reason, step * n, **more) for n in range(count)]
    tasks = [task(0, step * n + 5_000, 1_000, task_id=n, executor_id=str(n)) for n in range(count)]
    return run_of(step * count, conf=DYNAMIC, tasks=tasks, executors=executors)


def test_the_price_is_the_core_time_before_the_first_task() -> None:
    (finding,) = found(RULE, coming_and_going(6, 10_000))
    assert finding.wasted_core_ms == 5 * 4 * 5_000
    assert finding.advice[0].value == "90s"


def test_a_long_pause_is_what_dynamic_allocation_is_for() -> None:
    assert found(RULE, coming_and_going(6, 600_000)) == []
    assert found(RULE, coming_and_going(3, 10_000)) == []


def test_executors_that_end_right_after_their_start_are_told_with_their_reason() -> None:
    executors = [removed(str(n), 10_000 * n + 5_000, "Command exited with code 1", 10_000 * n) for n in range(5)]
    run = run_of(200_000, tasks=[task(0, 0, 1_000, executor_id="9")], executors=[*executors, executor("9", 4)])
    (finding,) = found(RULE, run)
    assert finding.title == "5 of 6 executors ended within 1 min 00 s of their start"
    assert finding.consequence == "lost"
    assert finding.wasted_core_ms is None


def test_executors_that_end_with_the_application_did_not_die_early() -> None:
    executors = [removed(str(n), 19_900, "worker lost", 1_000) for n in range(5)]
    assert found(RULE, run_of(20_000, tasks=[task(0, 0, 1_000)], executors=executors)) == []
