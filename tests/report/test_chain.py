"""How it came to the end: on one clock, the cause before what it took along, and nothing where nothing died."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from emberscope.report.chain import Link, chain, clock_words, heading
from emberscope.report.diagnosis import diagnose, diagnose_document
from emberscope.report.lead_up import growth
from emberscope.report.markdown import diagnosis_markdown
from emberscope.report.page import report_page
from emberscope.report.screen import diagnosis_screen
from emberscope.report.terminal import report_terminal
from emberscope.report.text import diagnosis_text
from emberscope.rules.base import Evidence, Finding, Rule, Where
from emberscope.rules.evaluate import Diagnosis, Ranked, ranked
from emberscope.tables.run import Run
from tests.runs import START_MS, executor, job, run_of, stage, task

GIB = 1 << 30
KILLED_MS = START_MS + 60_000


def nothing(run: Run, limits: Any) -> Iterator[Finding]:
    yield from ()


def told(code: str, title: str, at_ms: int | None, line: int | None = None, **more: Any) -> Ranked:
    rule: Rule[Any] = Rule(code, code.lower(), "0.1", (), None, nothing)
    evidence = (Evidence("a line", "driver.log", line=line),) if line else ()
    consequence, wall_ms = more.pop("consequence", "ended"), more.pop("wall_ms", None)
    finding = Finding(title, "Because.", Where(**more), evidence, (), wall_ms, None, "", 0.9, consequence)
    return Ranked(rule, "app-1", finding, "critical", 0.9, at_ms=at_ms)


DEATH = (
    told("H3", "Job 0 failed: executor 6 went away", START_MS + 95_000, job=0, executor="6", wall_ms=30_000),
    told("K12", "The driver lost executor 6", KILLED_MS + 2_000, executor="6", consequence="lost"),
    told("K1", "Executor 6's container used 8.2 of 8 GB and was killed by YARN", KILLED_MS, 1042, executor="6"),
)


def peaks(executor_id: str, *gib: float) -> list[dict[str, Any]]:
    """Peaks of Python workers, ten seconds apart."""
    return [
        {
            "executor_id": executor_id,
            "after_ms": START_MS + 10_000 * place,
            "process_python_rss_bytes": round(size * GIB),
        }
        for place, size in enumerate(gib)
    ]


def a_run(**tables: Any) -> Run:
    return run_of(
        stages=[
            stage(14, 0, 70_000, status="failed"),
            stage(14, 71_000, 80_000, stage_attempt=1, status="failed"),
            stage(14, 81_000, 90_000, stage_attempt=2),
        ],
        tasks=[task(14, 0, 50_000)],
        jobs=[job(0, 0, 95_000, status="failed")],
        executors=[executor("6", 4, 0, 62_000)],
        **tables,
    )


def test_the_steps_of_a_death_in_their_order() -> None:
    run = a_run(executor_metrics=peaks("6", 0.5, 0.5, 1.0, 2.0, 3.5, 4.0))
    links = chain(run, ranked(DEATH))
    assert [(link.role, clock) for link, clock in zip(links, clock_words(links), strict=True)] == [
        ("before", "22:13:30"),
        ("cause", "22:14:20"),
        ("then", "22:14:22"),
        ("then", "22:14:55"),
        ("cost", ""),
    ]
    assert links[0].text == "Python workers of executor 6 grew from 512 MiB to 4.0 GiB until 22:14:10"
    assert (links[1].text, links[1].source, links[1].number) == (DEATH[2].finding.title, "driver.log:1042", 1)
    assert links[4].text == "2 further attempts of stage 14 and 30.0 s"
    assert heading(links) == "How it came to this (2023-11-14, UTC)"


def test_by_logs_alone_the_highest_attempt_of_a_stage_counts() -> None:
    rows = [
        {"event_id": n, "time_ms": KILLED_MS + at, "last_ms": KILLED_MS + at, "text": text}
        for n, (at, text) in enumerate(
            ((-5_000, "Lost task 1.3 in stage 9.2"), (5_000, "Lost task 0.0 in stage 14.1"), (9_000, "in stage 14.3"))
        )
    ]
    run = run_of(log_events=rows)
    told_only = replace(run, tables={"log_events": run.tables["log_events"]})
    (*_, cost) = chain(told_only, ranked(DEATH[1:]))
    assert cost.text == "at least 3 further attempts of stage 14"


def test_nothing_is_told_where_nothing_died_or_nothing_followed() -> None:
    slow = told("B1", "Stage 3 is skewed", None, consequence=None)
    assert chain(a_run(), ranked([slow])) == ()
    assert chain(run_of(), ranked([told("K9", "A buffer was full", 5, 3)])) == ()
    assert chain(run_of(), ()) == ()


def test_several_days_and_times_that_no_calendar_has() -> None:
    links = [Link("cause", 0, "a"), Link("then", 86_400_000, "b"), Link("then", 2**62, "c"), Link("cost", None, "d")]
    assert clock_words(links) == ["01-01 00:00:00", "01-02 00:00:00", "", ""]


@pytest.mark.parametrize(
    "sizes",
    [(), (4.0,), (4.0, 4.1, 4.2), (4.0, 0.5, 0.5), (0.1, 0.2)],
    ids=["nothing", "once", "steady", "falls", "small"],
)
def test_what_does_not_grow_is_not_told(sizes: tuple[float, ...]) -> None:
    assert growth(a_run(executor_metrics=peaks("6", *sizes)), "6", KILLED_MS) is None


def test_only_the_executor_that_died_and_only_before_it_did() -> None:
    run = a_run(executor_metrics=peaks("7", 0.5, 4.0))
    assert growth(run, "6", KILLED_MS) is None
    assert growth(run, "7", START_MS + 5_000) is None
    assert growth(run, "7", KILLED_MS) is not None


def test_python_of_a_recording_is_added_up() -> None:
    rows = [
        {
            "name": "process_rss_bytes",
            "time_ns": (START_MS + at) * 1_000_000,
            "value": size * GIB,
            "label": f"{pid} python3",
            "executor_id": "6",
        }
        for at, size in ((0, 0.25), (10_000, 0.25), (20_000, 2.0))
        for pid in (1, 2)
    ]
    grown = growth(a_run(series=rows), "6", KILLED_MS)
    assert grown is not None
    assert (grown.what, grown.begin_ms, grown.end_ms) == ("Python workers", START_MS + 10_000, START_MS + 20_000)
    assert (grown.least_bytes, grown.most_bytes) == (0.5 * GIB, 4.0 * GIB)


def test_every_view_tells_it() -> None:
    run, findings = a_run(), ranked(DEATH)
    item = structs.replace(diagnose(run), diagnosis=Diagnosis(findings, (), 3), chain=chain(run, findings))
    screen = diagnosis_screen([item])
    assert re.search(r"22:14:20  cause +Executor 6's container used 8\.2 of 8 GB .*\(driver\.log:1042\)", screen)
    assert len(screen.splitlines()) <= 41
    assert "   driver.log:1042: a line" in screen
    assert "- a line (driver.log:1042)" in diagnosis_text([item])
    assert "cost    2 further attempts of stage 14" in report_terminal(item)
    assert "How it came to this" in diagnosis_text([item])
    markdown = diagnosis_markdown([item])
    assert "2. 22:14:22 then: The driver lost executor 6" in markdown
    assert "(`driver.log:1042`)" in markdown
    page = report_page(item)
    assert '<ol class="chain">' in page
    assert '<a href="#finding-1">Executor 6&#39;s container used 8.2 of 8 GB' in page
    (told_of,) = diagnose_document([item])["chains"]
    assert [(step["role"], step["finding"]) for step in told_of["steps"]] == [
        ("cause", 0),
        ("then", 1),
        ("then", 2),
        ("cost", None),
    ]


def test_a_view_of_what_did_not_die_says_nothing_of_it() -> None:
    item = diagnose(replace(a_run(), tables={}))
    assert "How it came" not in diagnosis_screen([item]) + diagnosis_markdown([item]) + diagnosis_text([item])
    assert diagnose_document([item])["chains"] == []
