"""What follows from a death goes under it; what only happened at the same time does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from emberscope.logs.signature import Signature
from emberscope.rules.base import Evidence, Finding, Rule, Where, set_conf
from emberscope.rules.deaths import death_causes, without_circles
from emberscope.rules.evaluate import Ranked, ranked
from emberscope.rules.moments import as_it_ended, first_ms
from emberscope.tables.run import Run
from emberscope.tuning.resolve import patch_of
from tests.runs import START_MS, job, run_of


def nothing(run: Run, limits: Any) -> Iterator[Finding]:
    yield from ()


def told(
    code: str,
    title: str,
    at_ms: int | None = None,
    *,
    line: int | None = None,
    literal: str = "",
    consequence: Any = "ended",
    **where: Any,
) -> Ranked:
    signatures = (Signature(code, literal, (literal,)),) if literal else ()
    rule: Rule[Any] = Rule(code, code.lower(), "0.1", (), None, nothing, signatures=signatures)
    evidence = (Evidence("a line", "driver.log", line=line),) if line else ()
    finding = Finding(title, "", Where(**where), evidence, (), None, None, "", 0.9, consequence)
    return Ranked(rule, "app-1", finding, "critical", 0.9, at_ms=at_ms)


def order(*findings: Ranked) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.rule.code, one.caused_by) for one in ranked(findings)]


def test_the_kill_comes_first_and_its_echoes_under_it() -> None:
    found = order(
        told("H5", "Job 3 failed: FetchFailedException in stage 14", 1_000_000, job=3, stage=14),
        told("K6", "Stage 14 could not fetch output of executor 6", 980_000, literal="FetchFailed", stage=14),
        told("K12", "The driver lost executor 6", 960_000, executor="6"),
        told("K1", "Executor 6's container used 8.2 of 8 GB", 961_000, executor="6"),
    )
    assert [code for code, _ in found] == ["K1", "K12", "K6", "H5"]
    assert dict(found) == {"K1": (), "K12": (0,), "K6": (0, 1), "H5": (2,)}


def test_a_job_that_failed_for_something_else_is_not_put_to_a_loss_before_it() -> None:
    found = order(
        told("K4", "The node of executor 6 was lost", 100_000, executor="6", literal="lost node"),
        told("H5", "Job 3 failed: java.lang.ArithmeticException: / by zero", 200_000, job=3),
    )
    assert all(not causes for _, causes in found)


def test_another_executor_is_another_death() -> None:
    found = order(
        told("K12", "The driver lost executor 9", 960_000, executor="9"),
        told("K1", "Executor 6's container used 8.2 of 8 GB", 950_000, executor="6"),
    )
    assert all(not causes for _, causes in found)
    found = order(
        told("K12", "The driver lost executors 4, 6 and 9", 960_000, executor="4"),
        told("K1", "Executor 6's container used 8.2 of 8 GB", 950_000, executor="6"),
    )
    assert dict(found)["K12"] == (0,)


def test_what_comes_long_after_is_no_cause() -> None:
    late = told("K1", "Executor 6's container used 8.2 of 8 GB", 1_200_000, executor="6")
    assert death_causes(told("K12", "The driver lost executor 6", 960_000, executor="6"), [late]) == ()
    soon = structs.replace(late, at_ms=1_000_000)
    assert death_causes(told("K12", "The driver lost executor 6", 960_000, executor="6"), [soon]) == (0,)
    no_clock = structs.replace(late, at_ms=None)
    assert death_causes(told("K12", "The driver lost executor 6", 960_000, executor="6"), [no_clock]) == (0,)


def test_one_line_that_says_both_joins_them_whatever_else_they_name() -> None:
    kill = told("K1", "A container used 8.2 of 8 GB", 1, line=7, executor="6")
    assert death_causes(told("K12", "The driver lost executor 9", 1, line=7, executor="9"), [kill]) == (0,)
    assert death_causes(told("K12", "The driver lost executor 9", 1, line=8, executor="9"), [kill]) == ()


def test_what_ended_goes_under_the_exception_it_quotes() -> None:
    missing = told("K11", "The class org.x.Y is missing", 5, literal="ClassNotFoundException")
    quoting = told("H5", "Job 1 failed: java.lang.ClassNotFoundException: org.x.Y", 9)
    other = told("H5", "Job 1 failed: java.lang.ArithmeticException: / by zero", 9)
    assert death_causes(quoting, [missing]) == (0,)
    assert death_causes(other, [missing]) == ()
    assert order(quoting, missing) == [("K11", ()), ("H5", (0,))]


def test_what_brought_about_an_end_is_as_severe_as_that() -> None:
    kill = structs.replace(told("K1", "Executor 6's container", 1, executor="6", consequence="lost"), severity="low")
    echo = structs.replace(
        told("K12", "The driver lost executor 6", 2, executor="6", consequence="lost"), severity="low"
    )
    assert [one.severity for one in ranked([kill, echo])] == ["low", "low"]
    ended = told("H3", "Executor 6 went away, and job 3 failed", 9, job=3, executor="6")
    assert [(one.rule.code, one.severity) for one in ranked([kill, echo, ended])] == [
        ("K1", "critical"),
        ("K12", "critical"),
        ("H3", "critical"),
    ]
    fetch = told("K6", "Output of executor 6 was gone", 3, literal="FetchFailed", consequence="lost")
    ended = told("H5", "Job 3 failed: FetchFailed", 9, job=3)
    assert {one.severity for one in ranked([kill, fetch, ended])} == {"critical"}


def test_a_case_of_a_managed_cluster_stands_over_the_general_one() -> None:
    general, case = told("K8", "Results are too large", 3, line=4), told("L2", "Tasks are too many", 3, line=4)
    assert order(general, case) == [("L2", ()), ("K8", (0,))]


def test_of_what_has_no_price_the_earlier_comes_first() -> None:
    assert [code for code, _ in order(told("K9", "b", 20), told("K15", "a", 10), told("K22", "c", None))] == [
        "K15",
        "K9",
        "K22",
    ]


def test_a_fetch_is_put_to_the_executor_that_served_and_not_to_the_one_that_read() -> None:
    gone = told("H3", "Executor 0 went away", 100_000, executor="0", consequence="lost")
    unnamed = told("K6", "The executor that held it was gone", 110_000, executor="4", consequence="lost")
    named = told("K6", "Output of executor 9 was gone", 110_000, executor="4", consequence="lost")
    assert death_causes(unnamed, [gone]) == (0,)
    assert death_causes(named, [gone]) == ()


def test_without_a_common_process_only_what_came_soon_after_belongs_together() -> None:
    gone = told("K4", "A node was lost", 100_000)
    assert death_causes(told("K12", "Executors were lost", 1_000_000), [gone]) == (0,)
    assert death_causes(told("K12", "Executors were lost", 9_000_000), [gone]) == ()


def test_a_long_pause_is_why_nothing_was_heard() -> None:
    pause = told("K83", "Executor 6 stood still for 130 s", 5_000, executor="6", consequence="lost")
    silent = told("K12", "Nothing was heard of executor 6", 140_000, executor="6", consequence="lost")
    heap = told("K5", "Executor 6's heap was full", 3_000, executor="6")
    assert order(silent, pause, heap) == [("K5", ()), ("K83", (0,)), ("K12", (0, 1))]


def test_the_drivers_death_is_not_that_of_an_executor() -> None:
    heap = told("K5", "The driver's heap was full", 5)
    assert death_causes(told("K12", "Contact with executor 6 was lost", 6, executor="6"), [heap]) == ()


def test_a_line_of_a_log_goes_before_figures_and_these_before_words_of_the_event_log() -> None:
    figures = told("C6", "Python ran out of memory", None, consequence="lost")
    line, words = told("K17", "A Python worker of executor 1 died", 5, line=3), told("K17", "A Python worker died", 5)
    assert order(figures, line) == [("K17", ()), ("C6", (0,))]
    assert order(figures, words) == [("C6", ()), ("K17", (0,))]


def test_words_of_the_event_log_end_nothing_where_all_jobs_went_well() -> None:
    ended, quoting = told("K6", "x", 5).finding, told("K6", "x", 5, line=3).finding
    well, failed = run_of(jobs=[job(0, 0, 5)]), run_of(jobs=[job(0, 0, 5, status="failed")])
    assert as_it_ended(ended, well).consequence == "lost"
    assert as_it_ended(quoting, well).consequence == "ended"
    assert as_it_ended(ended, failed).consequence == "ended"
    assert as_it_ended(ended, run_of()).consequence == "ended"


@given(st.lists(st.lists(st.integers(0, 7), max_size=5), min_size=8, max_size=8))
def test_prop_causes_never_run_in_a_circle(drawn: list[list[int]]) -> None:
    kept = without_circles([tuple(causes) for causes in drawn])
    for start in range(8):
        seen: set[int] = set()
        waiting = list(kept[start])
        while waiting:
            cause = waiting.pop()
            assert cause != start
            if cause not in seen:
                seen.add(cause)
                waiting += kept[cause]
    assert without_circles(kept) == kept


LOG_ROW = {"event_id": 0, "file": "driver.log", "line": 7, "time_ms": START_MS + 1234}


@pytest.mark.parametrize(
    ("line", "when"), [(7, START_MS + 1234), (8, None)], ids=["a line with a clock", "a line without"]
)
def test_a_finding_is_of_the_moment_of_its_lines(line: int, when: int | None) -> None:
    run = run_of(log_events=[LOG_ROW])
    assert first_ms(run, told("K1", "x", line=line).finding) == when


def test_words_without_a_line_are_of_the_moment_when_they_were_first_said() -> None:
    rows = [{"event_id": n, "time_ms": START_MS + at, "signatures": ["K6"]} for n, at in enumerate((90, 40, 70))]
    one = told("K6", "x", literal="literal")
    assert first_ms(run_of(log_events=rows), one.finding, one.rule.signatures) == START_MS + 40


def test_what_an_echo_advises_is_not_in_the_patch() -> None:
    setting = set_conf("spark.decommission.enabled", "true", "Move blocks away in time.")
    kill = told("K1", "Executor 6's container used 8.2 of 8 GB", 5, executor="6")
    fetch = told("K6", "Output of executor 6 was gone", 9)
    fetch = structs.replace(fetch, finding=structs.replace(fetch.finding, advice=(setting,)))
    assert [change.setting for change in patch_of(ranked([fetch]), run_of()).changes] == [setting.setting]
    assert patch_of(ranked([fetch, kill]), run_of()).changes == ()


def test_a_finding_without_lines_is_of_the_moment_of_its_place() -> None:
    gone = {"executor_id": "6", "removed_ms": 5_000, "added_ms": 0, "cores": 1}
    run = run_of(executors=[gone], jobs=[job(3, 0, 9_000, status="failed")])
    assert first_ms(run, told("H3", "x", executor="6").finding) == START_MS + 5_000
    assert first_ms(run, told("H5", "x", job=3).finding) == START_MS + 9_000
    assert first_ms(run, told("B1", "x", stage=3, consequence=None).finding) is None
