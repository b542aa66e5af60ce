from __future__ import annotations

from emberscope.rules.evaluate import evaluate
from emberscope.rules.time.idle_cores import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

SETTINGS = {"spark.executor.cores": "4", "spark.master": "yarn"}


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
    (advice,) = finding.finding.advice
    assert advice.text.startswith("Ask for local[2] in place of 16 slots.")


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
    assert settings["spark.executor.instances"] == "1"
    assert finding.advice[0].text.startswith("Look at stage 0 first")


def test_dynamic_allocation_that_is_on_gets_a_bound() -> None:
    (finding,) = found(RULE, two_busy_of(8, {**SETTINGS, "spark.dynamicAllocation.enabled": "true"}))
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings["spark.dynamicAllocation.maxExecutors"] == "1"
    assert "spark.dynamicAllocation.enabled" not in settings


def test_cores_that_would_do_are_told_only_where_they_are_fewer_than_all() -> None:
    (finding,) = found(RULE, two_busy_of(8))
    assert any(e.text.startswith("2 of 8 cores would do") for e in finding.evidence)
    busy = [task(0, 0, 50_000, task_id=i) for i in range(8)]
    run = run_of(
        100_000, tasks=busy, stages=[stage(0, 0, 50_000)], jobs=[job(0, 0, 50_000)], executors=[executor("1", 8)]
    )
    (finding,) = found(RULE, run)
    assert not any("would do" in e.text for e in finding.evidence)


def test_few_cores_are_not_advised_where_a_short_burst_needs_many() -> None:
    """95 s of one task at a time, then 5 s on all of 40 cores: with 1 core the burst alone would take 200 s."""
    long = [task(0, 0, 95_000)]
    burst = [task(1, 95_000, 5_000, task_id=i) for i in range(40)]
    run = run_of(
        100_000,
        {"spark.master": "spark://a:7077"},
        tasks=[*long, *burst],
        stages=[stage(0, 0, 95_000), stage(1, 95_000, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[executor("1", 4), executor("2", 36)],
    )
    (finding,) = found(RULE, run)
    needed = next(e.value for e in finding.evidence if "would do" in e.text)
    assert needed == 20
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings["spark.dynamicAllocation.enabled"] == "true"
    assert settings.get("spark.cores.max", "36") == "36"


def test_a_task_keeps_all_the_cores_busy_that_it_was_given() -> None:
    run = two_busy_of(8, {**SETTINGS, "spark.task.cpus": "3"})
    assert found(RULE, run) == []
    run = two_busy_of(40, {**SETTINGS, "spark.task.cpus": "2"})
    (finding,) = found(RULE, run)
    assert finding.wasted_core_ms == 36 * 100_000


def test_a_session_that_waits_for_a_person_is_never_high() -> None:
    for shell in (False, True):
        run = two_busy_of(40, {"spark.repl.class.uri": "spark://a:1/classes"} if shell else None)
        (finding,) = [f for f in evaluate(run).findings if f.rule is RULE]
        assert ("interactive session" in finding.finding.summary) is shell
        assert (finding.severity in ("critical", "high")) is not shell
