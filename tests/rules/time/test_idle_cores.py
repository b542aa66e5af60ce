from __future__ import annotations

from emberscope.rules.evaluate import evaluate
from emberscope.rules.time.idle_cores import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

SETTINGS = {"spark.executor.cores": "4"}


def two_busy_of(cores: int, conf: dict[str, str] | None = None, removed_ms: float | None = None) -> Run:
    """100 s, in which one stage keeps two cores busy."""
    return run_of(
        100_000,
        conf=conf,
        tasks=[task(0, 50_000 * i, 50_000, task_id=10 * i + j) for i in range(2) for j in range(2)],
        stages=[stage(0, 0, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[executor("1", 2), executor("2", cores - 2, 0, removed_ms)],
    )


def test_finds_the_idle_slots_that_spark_had_and_their_cause() -> None:
    ranked = evaluate(spark_wrote("driver_idle_gc")).findings
    finding = next(r for r in ranked if r.rule.code == "A2")
    assert finding.finding.evidence[0].value is not None
    assert finding.finding.evidence[0].value > 0.9
    assert [ranked[index].rule.code for index in finding.caused_by] == ["A1"]
    assert finding.finding.wasted_wall_ms is None
    assert [a.text for a in finding.finding.advice] == ["Ask for local[2] in place of 16 slots."]


def test_ignores_applications_that_use_their_cores_or_offer_few() -> None:
    assert found(RULE, spark_wrote("none")) == []
    assert found(RULE, two_busy_of(3)) == []


def test_executors_that_went_are_not_idle() -> None:
    assert len(found(RULE, two_busy_of(8))) == 1
    assert found(RULE, two_busy_of(8, removed_ms=1_000)) == []


def test_idle_core_time_is_what_was_offered_less_what_ran() -> None:
    (finding,) = found(RULE, two_busy_of(8, SETTINGS))
    assert finding.wasted_core_ms == 6 * 100_000
    assert finding.where.stage == 0
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings["spark.sql.shuffle.partitions"] == "20"
    assert settings["spark.executor.instances"] == "1"


def test_dynamic_allocation_that_is_on_gets_a_bound() -> None:
    (finding,) = found(RULE, two_busy_of(8, {**SETTINGS, "spark.dynamicAllocation.enabled": "true"}))
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings["spark.dynamicAllocation.maxExecutors"] == "1"
    assert "spark.dynamicAllocation.enabled" not in settings


def test_cores_that_were_enough_are_told_only_where_they_are_fewer_than_all() -> None:
    (finding,) = found(RULE, two_busy_of(8))
    assert any(e.text.startswith("2 of 8 cores were enough") for e in finding.evidence)
    busy = [task(0, 0, 1_000, task_id=i) for i in range(8)]
    run = run_of(
        100_000, tasks=busy, stages=[stage(0, 0, 1_000)], jobs=[job(0, 0, 1_000)], executors=[executor("1", 8)]
    )
    (finding,) = found(RULE, run)
    assert not any("enough" in e.text for e in finding.evidence)


def test_a_session_that_waits_for_a_person_is_never_high() -> None:
    for shell in (False, True):
        run = two_busy_of(40, {"spark.repl.class.uri": "spark://a:1/classes"} if shell else None)
        (finding,) = [f for f in evaluate(run).findings if f.rule is RULE]
        assert ("interactive session" in finding.finding.summary) is shell
        assert (finding.severity in ("critical", "high")) is not shell
