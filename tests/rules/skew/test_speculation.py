from __future__ import annotations

from emberscope.rules.skew.speculation import RULE
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def speculated(long: float, conf: dict[str, str] | None = None, *, winning: int = 0) -> Run:
    """Eight tasks of 10 s and four of `long` times as much, each of these with a copy that starts after 12 s and is
    killed when the original ends; `winning` of the copies win instead."""
    tasks = [task(0, 0, 10_000, task_id=n, task_index=n) for n in range(8)]
    for n in range(4):
        length = 10_000 * long
        won = n < winning
        original = {"status": "killed"} if won else {}
        copy = {"speculative": True, **({} if won else {"status": "killed", "has_metrics": False})}
        tasks.append(task(0, 0, length, task_id=20 + n, task_index=8 + n, speculative=False, **original))
        tasks.append(task(0, 12_000, length - 12_000, task_id=30 + n, task_index=8 + n, **copy))
    length = round(10_000 * long)
    return run_of(
        length + 1_000,
        conf=conf,
        tasks=tasks,
        stages=[stage(0, 0, length)],
        jobs=[job(0, 0, length)],
        executors=[executor("1", 8)],
    )


def advised(run: Run) -> dict[str, str | None]:
    (finding,) = found(RULE, run)
    return {a.setting: a.value for a in finding.advice if a.setting}


def test_finds_the_copies_that_lost_in_real_spark() -> None:
    (finding,) = found(RULE, fault_log("speculation_waste"))
    assert "speculative copies did not win" in finding.title
    assert finding.wasted_core_ms is not None
    assert finding.wasted_core_ms > 10_000
    assert finding.wasted_wall_ms is not None


def test_silent_without_copies() -> None:
    assert found(RULE, spark_wrote("none")) == []


def test_counts_what_the_losing_copies_held() -> None:
    (finding,) = found(RULE, speculated(4.0))
    assert finding.title == "4 of 4 speculative copies did not win"
    assert finding.wasted_core_ms == 4 * 28_000
    assert finding.where.stage == 0


def test_silent_where_most_copies_won_or_cost_little() -> None:
    assert found(RULE, speculated(4.0, winning=3)) == []
    assert found(RULE, speculated(1.3)) == []


def test_the_multiplier_would_have_spared_the_copies_that_lost() -> None:
    three = {"spark.speculation.multiplier": "1.5", "spark.speculation.quantile": "0.75"}
    assert advised(speculated(4.0, three, winning=1)) == {
        "spark.speculation.multiplier": "4",
        "spark.speculation.quantile": "0.9",
    }


def test_speculation_goes_where_waiting_would_not_have_helped() -> None:
    assert advised(speculated(30.0)) == {"spark.speculation": "false"}


def test_the_measure_of_efficiency_is_put_back() -> None:
    key = "spark.speculation.efficiency.enabled"
    (finding,) = found(RULE, speculated(4.0, {key: "false"}))
    assert [a.kind for a in finding.advice if a.setting == key] == ["unset"]
