from __future__ import annotations

from typing import Any

from emberscope.rules.skew.executor_imbalance import RULE
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def crowded(on: int, conf: dict[str, str] | None = None, *, count: int = 40, locality: str = "PROCESS_LOCAL") -> Run:
    """Four executors of two cores; `count` tasks of 2 s, all on the first `on` of them."""
    free = [0.0] * (2 * on)
    tasks: list[dict[str, Any]] = []
    for index in range(count):
        slot = free.index(min(free))
        place = {"executor_id": str(slot // 2), "locality": locality, "task_id": index, "task_index": index}
        tasks.append(task(0, free[slot], 2_000, **place))
        free[slot] += 2_000
    length = max(free)
    return run_of(
        round(length) + 1_000,
        conf=conf,
        tasks=tasks,
        stages=[stage(0, 0, length)],
        jobs=[job(0, 0, length)],
        executors=[executor(str(n), 2) for n in range(4)],
    )


def test_finds_the_executors_that_real_spark_left_idle() -> None:
    (finding,) = found(RULE, fault_log("executor_imbalance"))
    assert "left 3 of 4 executors idle while its tasks waited" in finding.title
    assert {a.setting: a.value for a in finding.advice if a.setting} == {"spark.locality.wait": "0s"}
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 10_000


def test_silent_where_tasks_spread() -> None:
    assert found(RULE, spark_wrote("none")) == []
    assert found(RULE, fault_log("fetch_failure")) == []
    assert found(RULE, crowded(4)) == []


def test_the_price_is_that_of_the_tasks_on_all_cores() -> None:
    (finding,) = found(RULE, crowded(1))
    # 40 tasks of 2 s took 40 s on two cores and take 10 s on eight.
    assert finding.wasted_wall_ms == 30_000
    assert finding.where.stage == 0


def test_a_single_wave_has_nothing_that_waits() -> None:
    assert found(RULE, crowded(1, count=2)) == []
    assert found(RULE, crowded(4, count=9)) == []


def test_without_locality_the_wait_is_not_blamed() -> None:
    (finding,) = found(RULE, crowded(1, locality="ANY"))
    assert [a.setting for a in finding.advice if a.setting] == []
    assert finding.confidence == 0.5


def test_no_setting_where_tasks_do_not_wait_already() -> None:
    (finding,) = found(RULE, crowded(1, {"spark.locality.wait": "0"}))
    assert [a.setting for a in finding.advice if a.setting] == []


def test_executors_that_came_late_are_not_idle() -> None:
    late = run_of(
        41_000,
        tasks=[task(0, 2_000 * (n // 2), 2_000, task_id=n, executor_id="0") for n in range(40)],
        stages=[stage(0, 0, 40_000)],
        jobs=[job(0, 0, 40_000)],
        executors=[executor("0", 2), *(executor(str(n), 2, 39_000) for n in range(1, 4))],
    )
    assert found(RULE, late) == []
