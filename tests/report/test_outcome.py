from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from emberscope.report.diagnosis import diagnose
from emberscope.report.outcome import failures, outcome
from emberscope.report.screen import diagnosis_screen
from emberscope.report.story import story
from emberscope.report.text import diagnosis_text
from emberscope.report.waterfall import Part, waterfall
from tests.runs import START_MS, executor, job, run_of, stage, task


def skewed_for_100_s() -> dict[str, list[dict[str, object]]]:
    tasks = [task(0, 2_000 * (i // 3), 2_000, task_id=i) for i in range(7)] + [task(0, 0, 90_000, task_id=7)]
    return {
        "tasks": tasks,
        "stages": [stage(0, 0, 90_000)],
        "jobs": [job(0, 0, 90_000)],
        "executors": [executor("1", 4)],
    }


def test_one_sentence_names_length_largest_part_and_largest_saving() -> None:
    said = outcome(diagnose(run_of(100_000, **skewed_for_100_s())))
    assert said.startswith("by hand ran 1 min 40 s; 64.0 %")
    assert "went to idle cores" in said
    assert "The largest saving found is" in said
    assert "(stage 0 waited for one task that ran 45× the median)" in said


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"cpu_window": 300, "cpu_sort": 100, "gc": 350, "residual": 250},
            "40.0 % of it was CPU work (most of it window)",
        ),
        (
            {"cpu_window": 150, "cpu_sort": 120, "cpu_other": 200, "gc": 350, "residual": 180},
            "47.0 % of it was CPU work (the largest part is window, 15.0 %)",
        ),
        ({"cpu": 600, "gc": 400}, "60.0 % of it was CPU work."),
        ({"cpu_window": 300, "gc": 700}, "70.0 % of it went to garbage collection"),
        ({"residual": 1000}, "100 % of it is not explained"),
    ],
)
def test_cpu_counts_as_one_when_the_main_cost_is_named(parts: dict[str, int], said: str) -> None:
    waterfall = tuple(Part(name, wall_ms, wall_ms / 1000) for name, wall_ms in parts.items())
    waterfall += () if "residual" in parts else (Part("residual", 0, 0.0),)
    assert said in outcome(structs.replace(diagnose(run_of()), waterfall=waterfall))


def test_an_application_without_an_end_was_only_seen() -> None:
    run = run_of(100_000, **skewed_for_100_s())
    application = replace(run.application, app_end_ms=None, complete=False, last_event_ms=START_MS + 95_000)
    assert "was seen for 1 min 35 s" in outcome(diagnose(replace(run, application=application)))


def test_failures_are_told() -> None:
    run = run_of(
        tasks=[task(0, 0, 10, status="failed"), task(0, 0, 10, status="failed")], jobs=[job(0, 0, 10, status="failed")]
    )
    assert failures(diagnose(run)) == "1 job and 2 task attempts failed."
    assert failures(diagnose(run_of())) == ""


def test_nothing_found_and_length_not_known() -> None:
    assert (
        outcome(diagnose(run_of(None)))
        == "by hand has no known length. No rule that could be evaluated found anything."
    )


def test_an_application_that_ends_while_tasks_run_says_so() -> None:
    running = [{"stage_id": 3, "launch_ms": 0, "until_ms": 100_000, "at_end": at_end} for at_end in (True, True, False)]
    run = run_of(running_tasks=running)
    assert "It ended while 2 tasks of stage 3 ran." in outcome(diagnose(run))
    unfinished = replace(run, application=replace(run.application, complete=False))
    assert "The log ends while 2 tasks of stage 3 ran." in outcome(diagnose(unfinished))
    assert "while" not in outcome(diagnose(run_of(running_tasks=running[2:])))


def test_a_small_application_is_not_told_that_most_of_its_time_is_not_much() -> None:
    said = outcome(
        diagnose(run_of(95_000, jobs=[job(0, 500, 1_500), job(1, 93_500, 95_000)], tasks=[task(0, 500, 1_000)]))
    )
    assert "Tasks ran for only 1.0 s in all, too little for more than a remark: at most 1 min 32 s" in said
    assert "worth much" not in said


def test_of_words_alone_the_time_and_the_first_cause_are_told() -> None:
    row = {"event_id": 0, "time_ms": START_MS, "last_ms": START_MS + 5_000, "count": 2, "file": "a.log", "line": 1}
    run = replace(run_of(None, log_events=[row]), recordings=())
    run = replace(run, tables={"log_events": run.tables["log_events"]})
    item = diagnose(run)
    assert item.only_told
    assert item.outcome.startswith(
        "What was given of by hand was read from 2023-11-14 22:13:20 UTC on, over 5.0 s: 1 thing said that may matter."
    )
    timed = replace(run, application=replace(run.application, app_start_ms=START_MS, app_end_ms=START_MS + 5_000))
    assert (waterfall(timed), story(timed)) == ((), ())
    assert "Where the time went" not in diagnosis_screen([item]) + diagnosis_text([item])
    assert not diagnose(run_of()).only_told
