from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from msgspec import structs

from emberscope.rules.base import Advice, Consequence, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.evaluate import data_confidence, evaluate, impact_ratio, severity_of
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from emberscope.tables.tasks import TASKS
from tests.runs import executor, job, run_of, spark_wrote, stage, task, without


@dataclass(frozen=True, slots=True)
class NoLimits:
    """None."""


def finding(where: Where, wall_ms: int | None, core_ms: int | None = None, confidence: float = 1.0) -> Finding:
    evidence = (Evidence("it is so", "tasks.gc_time_ms", 1, "ms"),)
    return Finding("title", "summary", where, evidence, (Advice("check", "look"),), wall_ms, core_ms, "b", confidence)


def rule(code: str, *findings: Finding, reads: tuple[Reads, ...] = ()) -> Rule[NoLimits]:
    def check(run: Run, limits: NoLimits) -> Iterator[Finding]:
        yield from findings

    return Rule(code, code.lower(), "0.1", reads, NoLimits(), check)


def large_run() -> Run:
    """100 s, two cores, all of them busy."""
    tasks = [task(0, 0, 100_000, task_id=i) for i in range(2)]
    return run_of(tasks=tasks, executors=[executor("1", 2)], jobs=[job(0, 0, 100_000)])


@pytest.mark.parametrize(
    ("impact", "severity"),
    [(1, "critical"), (0.5, "critical"), (0.3, "high"), (0.05, "medium"), (0.02, "low"), (0.009, "info")],
)
def test_severity_follows_from_the_share_of_time(impact: float, severity: str) -> None:
    assert severity_of(impact) == severity


@pytest.mark.parametrize("impact", [0, 0.05, 0.4, 1])
def test_a_small_application_gets_no_more_than_low(impact: float) -> None:
    assert severity_of(impact, small=True) in ("low", "info")


@pytest.mark.parametrize(
    ("consequence", "least", "small"),
    [
        ("ended", "critical", "critical"),
        ("blind", "medium", "low"),
        ("lost", "low", "low"),
        ("risk", "low", "low"),
        ("hint", "info", "info"),
    ],
)
def test_severity_is_no_less_than_what_follows(consequence: Consequence, least: str, small: str) -> None:
    assert severity_of(0.0, consequence) == least
    assert severity_of(0.0, consequence, small=True) == small
    assert severity_of(0.9, consequence) == "critical"


def test_impact_is_the_larger_of_wall_time_and_half_the_core_time() -> None:
    run = large_run()
    assert impact_ratio(finding(Where(), 30_000), run) == pytest.approx(0.3)
    assert impact_ratio(finding(Where(), None, 160_000), run) == pytest.approx(0.4)
    assert impact_ratio(finding(Where(), 30_000, 160_000), run) == pytest.approx(0.4)
    assert impact_ratio(finding(Where(), None), run) == 0


def test_findings_come_by_saving_with_causes_before_their_consequences() -> None:
    here, there = Where(stage=1, stage_attempt=0), Where(stage=2, stage_attempt=0)
    rules = [
        rule("C3", finding(here, 40_000), finding(there, 5_000)),
        rule("B1", finding(here, 20_000)),
        rule("F3", finding(there, 30_000)),
    ]
    ranked = evaluate(large_run(), rules).findings
    assert [(r.rule.code, r.finding.where.stage, r.caused_by) for r in ranked] == [
        ("B1", 1, ()),
        ("C3", 1, (0,)),
        ("F3", 2, ()),
        ("C3", 2, ()),
    ]


def test_idle_cores_follow_from_the_driver_only_where_both_name_it() -> None:
    driver = finding(Where(executor="driver"), 50_000)
    ranked = evaluate(large_run(), [rule("A1", driver), rule("A2", finding(Where(executor="driver"), None, 9))])
    assert ranked.findings[1].caused_by == (0,)
    ranked = evaluate(large_run(), [rule("A1", driver), rule("A2", finding(Where(), None, 9))])
    assert ranked.findings[1].caused_by == ()


def test_a_missing_table_is_not_evaluated_and_says_how_to_get_it() -> None:
    diagnosis = evaluate(run_of(), [rule("X1", finding(Where(), 1), reads=(Reads(SAMPLES),))])
    assert diagnosis.findings == ()
    assert [answer.code for answer in diagnosis.not_evaluated] == ["X1"]
    assert "emberscope run" in diagnosis.not_evaluated[0].needs
    diagnosis = evaluate(without(run_of(), "tasks"), [rule("X1", finding(Where(), 1), reads=(Reads(TASKS),))])
    assert "spark.eventLog.enabled" in diagnosis.not_evaluated[0].needs


def test_a_column_without_any_value_is_not_evaluated() -> None:
    asks = rule("X1", finding(Where(), 1), reads=(Reads(TASKS, ("gc_time_ms",)),))
    blind = run_of(tasks=[task(0, 0, 10, gc_time_ms=None)])
    assert "tasks.gc_time_ms" in evaluate(blind, [asks]).not_evaluated[0].needs
    assert not evaluate(run_of(tasks=[task(0, 0, 10)]), [asks]).not_evaluated


def test_times_that_are_not_known_are_not_evaluated() -> None:
    answers = evaluate(run_of(None, tasks=[task(0, 0, 10)], executors=[executor("1", 1)], jobs=[job(0, 0, 10)]))
    assert {answer.code for answer in answers.not_evaluated} >= {"A1", "A2"}


def test_confidence_is_taken_off_for_tasks_that_were_not_seen() -> None:
    stages = [stage(0, 0, 10, task_count=4)]
    assert data_confidence(run_of(stages=stages, tasks=[task(0, 0, 9, task_index=i) for i in range(4)])) == 1
    assert data_confidence(run_of(stages=stages, tasks=[task(0, 0, 9, task_index=i) for i in range(3)])) == 0.75
    assert data_confidence(run_of(stages=stages, tasks=[task(0, 0, 9, task_index=0) for _ in range(9)])) == 0.25
    assert data_confidence(run_of(stages=stages, tasks=[])) == 0
    cut = Coverage((Note("cut", "the last line is cut", lost={"lines": 1}),))
    assert data_confidence(run_of(coverage=cut)) == 0.9


def test_a_task_whose_times_run_backwards_was_not_seen() -> None:
    tasks = [task(0, 0, 9, task_index=i, finish_ms=-5 if i == 0 else 9) for i in range(4)]
    assert data_confidence(run_of(stages=[stage(0, 0, 10, task_count=4)], tasks=tasks)) == 0.75


def test_a_stage_without_an_end_counts_where_the_log_has_no_beginning() -> None:
    rows = {"stages": [stage(0, 0, 10, task_count=4, status="unfinished")], "tasks": [task(0, 0, 9, task_index=1)]}
    assert data_confidence(run_of(**rows)) == 1, "it was still running"
    assert data_confidence(run_of(None, **rows)) == 0.25


def test_that_data_are_missing_is_no_less_sure_for_it() -> None:
    run = run_of(stages=[stage(0, 0, 10, task_count=4)], tasks=[task(0, 0, 9, task_index=0)])
    blind = structs.replace(finding(Where(), None, confidence=0.8), consequence="blind")
    told = evaluate(run, [rule("X1", blind), rule("X2", finding(Where(), None, confidence=0.8))]).findings
    assert {one.rule.code: one.confidence for one in told} == {"X1": 0.8, "X2": 0.2}


def test_what_needs_all_tasks_is_not_evaluated_without_some() -> None:
    stages = [stage(0, 0, 10, task_count=200)]
    asks = structs.replace(rule("X1", finding(Where(), 1)), needs_all_tasks=True)
    for count, answered in ((200, True), (199, True), (190, False), (0, False)):
        run = run_of(stages=stages, tasks=[task(0, 0, 9, task_index=i) for i in range(count)])
        told = evaluate(run, [asks])
        assert bool(told.findings) == answered, count
        assert bool(told.not_evaluated) != answered, count
    assert "of which this log holds 0 %" in told.not_evaluated[0].needs


def test_a_real_run_has_all_tasks_of_its_stages() -> None:
    assert data_confidence(spark_wrote("skew_spill_python")) == 1


def test_a_finding_has_exactly_the_keys_of_its_document() -> None:
    document = evaluate(large_run(), [rule("B1", finding(Where(stage=3), 9))]).findings[0].document()
    assert list(document) == [
        *("code", "name", "app_id", "title", "severity", "confidence", "summary", "where", "evidence"),
        *("wasted_wall_ms", "wasted_core_ms", "saving_basis", "advice", "caused_by", "url"),
    ]
    assert document["where"] == {"stage": 3}
    assert list(document["evidence"][0]) == ["text", "source", "line", "value", "unit"]
    assert list(document["advice"][0]) == ["kind", "setting", "value", "text"]


def test_many_findings_of_one_rule_are_told_together_and_none_is_lost() -> None:
    places = [finding(Where(stage=i, stage_attempt=0), i, 10 * i) for i in range(100)]
    told = evaluate(large_run(), [rule("B1", *places)]).findings
    assert len(told) == 20
    (rest,) = [ranked.finding for ranked in told if ranked.finding.where.stage is None]
    assert rest.title == "81 smaller places of b1, together"
    assert sum(ranked.finding.wasted_core_ms or 0 for ranked in told) == 10 * sum(range(100))
    assert rest.wasted_wall_ms == sum(range(81))
    assert [ranked.finding.where.stage for ranked in told if ranked is not rest][1:4] == [99, 98, 97]
