"""The wall time by owner: each instant has one, and together they are the whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given

from emberscope.report.story import Chapter, story
from emberscope.report.waterfall import waterfall
from emberscope.sources.load import load
from emberscope.tables.run import Run
from tests.runs import any_runs, executor, job, run_of, spark_wrote, stage, task

EVENTFUL = Path(__file__).parents[1] / "data/eventlog/spark-4.3-eventful.zstd"


def told(run: Run) -> dict[str, int]:
    return {chapter.label: chapter.wall_ms for chapter in story(run)}


def sums(chapters: tuple[Chapter, ...], *parts: str) -> int:
    return sum(chapter.wall_ms for chapter in chapters if chapter.part in parts)


@given(any_runs())
def test_prop_the_chapters_sum_to_the_duration(run: Run) -> None:
    chapters, parts = story(run), {part.part: part.wall_ms for part in waterfall(run)}
    assert sum(chapter.wall_ms for chapter in chapters) == (run.application.observed_ms or 0)
    assert all(chapter.wall_ms > 0 for chapter in chapters)
    assert sum(chapter.ratio for chapter in chapters) == 0 if not chapters else True
    # What both bars tell has the same length in both, but for the whole ms that the other one shares out.
    for mine, theirs in (
        (("driver_before", "driver_between", "driver_after"), "driver_alone"),
        (("scheduling",), "scheduling"),
        (("waiting_for_executors",), "waiting_for_executors"),
    ):
        assert abs(sums(chapters, *mine) - parts.get(theirs, 0)) <= 1


def test_the_job_that_ends_last_owns_the_time_of_both() -> None:
    run = run_of(
        10_000,
        tasks=[task(0, 1_000, 4_000), task(1, 2_000, 6_000)],
        stages=[stage(0, 1_000, 5_000), stage(1, 2_000, 8_000, job_id=1)],
        jobs=[
            job(0, 1_000, 5_000, description="first", job_group=None),
            job(1, 2_000, 8_000, sql_execution_id=3),
        ],
        sql_executions=[{"sql_execution_id": 3, "description": "SELECT  1"}],
        executors=[executor("1", 2)],
    )
    assert told(run) == {
        "driver alone, before the first job": 1_000,
        "first": 1_000,
        "SQL execution 3: SELECT 1": 6_000,
        "after the last job": 2_000,
    }
    work = [chapter for chapter in story(run) if chapter.part == "work"]
    assert [(chapter.sql, chapter.stage) for chapter in work] == [(None, (0, 0)), (3, (1, 0))]


def test_waits_are_told_by_what_they_wait_for() -> None:
    run = run_of(
        10_000,
        tasks=[task(0, 4_000, 2_000)],
        stages=[stage(0, 1_000, 7_000)],
        jobs=[job(0, 1_000, 7_000, call_site="collect at /home/me/x.py:3")],
        executors=[executor("1", 1, added_ms=3_000)],
    )
    assert told(run) == {
        "driver alone, before the first job": 1_000,
        "waiting for executors": 2_000,
        "a job is active, no task runs": 2_000,
        "collect at x.py:3": 2_000,
        "after the last job": 3_000,
    }


def test_inner_executions_count_for_the_outermost_and_jobs_of_one_group_together() -> None:
    run = run_of(
        10_000,
        tasks=[task(i, i * 2_000, 2_000) for i in range(4)],
        jobs=[
            job(0, 0, 2_000, sql_execution_id=1),
            job(1, 2_000, 4_000, sql_execution_id=2),
            job(2, 4_000, 6_000, job_group="daily"),
            job(3, 6_000, 8_000, job_group="daily"),
        ],
        sql_executions=[
            {"sql_execution_id": 1, "root_execution_id": 1, "description": "outer"},
            {"sql_execution_id": 2, "root_execution_id": 1, "description": "inner"},
        ],
        executors=[executor("1", 1)],
    )
    assert told(run) == {
        "SQL execution 1: outer": 4_000,
        "job group daily, 2 jobs": 4_000,
        "after the last job": 2_000,
    }


def test_work_that_is_called_alike_is_told_together_beyond_the_longest() -> None:
    lengths = [9_000, *[500] * 40]
    starts = [sum(lengths[:i]) for i in range(41)]
    run = run_of(
        sum(lengths),
        tasks=[task(i, start, length) for i, (start, length) in enumerate(zip(starts, lengths, strict=True))],
        jobs=[
            job(i, start, start + length, description=f"step {i}" if i < 38 else "abc"[i - 38])
            for i, (start, length) in enumerate(zip(starts, lengths, strict=True))
        ],
        executors=[executor("1", 1)],
    )
    chapters = story(run)
    assert [(chapter.part, chapter.label, chapter.wall_ms) for chapter in chapters] == [
        ("work", "step 0", 9_000),
        *(("work", f"step {i}", 500) for i in range(1, 4)),
        ("work", "step …, 34 times", 17_000),
        ("other_work", "3 shorter pieces of work", 1_500),
    ]
    short = replace(run, application=replace(run.application, app_end_ms=run.application.app_end_ms + 100_000))
    assert [(chapter.label, chapter.wall_ms) for chapter in story(short)] == [
        ("step 0", 9_000),
        ("step …, 37 times", 18_500),
        ("3 shorter pieces of work", 1_500),
        ("after the last job", 100_000),
    ]


def test_of_a_real_run() -> None:
    run = spark_wrote("skew_spill_python")
    chapters = story(run)
    assert [chapter.sql for chapter in chapters if chapter.part == "work"] == [0, 1]
    assert sum(chapter.wall_ms for chapter in chapters) == run.application.duration_ms


def test_batches_of_a_streaming_query_are_one_piece_of_work() -> None:
    labels = [chapter.label for chapter in story(load(str(EVENTFUL)))]
    assert "streaming query counts, 3 jobs" in labels
    assert "job group a group, 3 jobs" in labels


def test_without_times_there_is_no_story() -> None:
    assert story(run_of(None)) == ()
