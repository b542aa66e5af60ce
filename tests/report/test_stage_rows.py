from __future__ import annotations

import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.stage_rows import Spread, counted_event, executor_rows, stage_rows
from emberscope.tables.samples import SAMPLES
from tests.runs import executor, run_of, spark_wrote, stage, task, with_rows


def test_a_stage_has_the_sums_and_the_spread_of_its_tasks() -> None:
    tasks = [task(0, 0, 1_000 * (i + 1), task_id=i, gc_time_ms=100, disk_spilled_bytes=5) for i in range(5)]
    tasks.append(task(0, 0, 9_000, task_id=9, status="failed"))
    (row,) = stage_rows(run_of(tasks=tasks, stages=[stage(0, 0, 9_500)]))
    assert (row.tasks, row.failed, row.wall_ms, row.task_ms, row.spilled_bytes) == (6, 1, 9_500, 24_000, 25)
    assert row.spread == Spread(1_000, 2_000, 3_000, 4_000, 5_000)
    assert row.spread.percent(row.spread.median) == 60
    assert row.samples is None


def test_one_task_has_no_spread_and_an_unfinished_stage_no_time() -> None:
    (row,) = stage_rows(
        run_of(tasks=[task(0, 0, 10)], stages=[stage(0, 0, 10, status="unfinished") | {"completed_ms": None}])
    )
    assert row.spread is None
    assert row.wall_ms is None


def test_samples_are_counted_where_the_run_was_recorded() -> None:
    run = with_rows(
        run_of(tasks=[task(0, 0, 10)], executors=[executor("1", 2, 500, 800)]),
        "samples",
        SAMPLES.from_rows([{"stage_id": 0, "executor_id": "1", "count": 3}, {"executor_id": "driver", "count": 1}]),
    )
    assert [row.samples for row in stage_rows(run)] == [3]
    (row,) = executor_rows(run)
    assert (row.samples, row.added_ms, row.removed_ms, row.tasks, row.task_ms) == (3, 500, 800, 1, 10)


def test_what_is_counted_is_what_the_flame_graph_shows_first() -> None:
    mine = {"stage_id": 0, "stage_attempt": 0, "executor_id": "1"}
    samples = [{**mine, "event": "alloc", "count": 40}, {**mine, "event": "cpu", "count": 3}]
    run = run_of(tasks=[task(0, 0, 10)], executors=[executor("1", 2, 500, 800)])
    for rows, event, count in ((samples, "cpu", 3), (samples[:1], "alloc", 40)):
        recorded = with_rows(run, "samples", SAMPLES.from_rows(rows))
        assert counted_event(recorded) == event
        assert [row.samples for row in (*stage_rows(recorded), *executor_rows(recorded))] == [count, count]


def test_executors_that_spark_had() -> None:
    rows = executor_rows(spark_wrote("skew_spill_python"))
    assert sorted(row.executor_id for row in rows) == ["0", "1"]
    assert all(row.cores == 1 and row.tasks > 3 for row in rows)
    assert sum(row.tasks for row in rows) == spark_wrote("skew_spill_python").tables["tasks"].num_rows


def test_no_executors_are_known_without_their_table() -> None:
    assert executor_rows(replace(run_of(), tables={})) == []


def test_samples_of_a_stage_that_ran_twice_are_those_of_the_attempt() -> None:
    tasks = [task(0, 0, 10, task_id=1), task(0, 20, 10, task_id=2, stage_attempt=1), task(3, 50, 10, task_id=3)]
    samples = [
        {"stage_id": 0, "stage_attempt": 0, "count": 3},
        {"stage_id": 0, "stage_attempt": 1, "count": 4},
        {"stage_id": 3, "count": 5},  # of which attempt is not known, but there is only one
    ]
    run = with_rows(run_of(tasks=tasks), "samples", SAMPLES.from_rows(samples))
    assert [(row.stage_id, row.attempt, row.samples) for row in stage_rows(run)] == [(0, 0, 3), (0, 1, 4), (3, 0, 5)]


_RUNS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(0, 1),
        st.none() | st.integers(0, 10_000),
        st.sampled_from(["success", "failed", "killed"]),
        st.sampled_from(["1", "2"]),
    ),
    max_size=40,
)


@given(_RUNS)
def test_prop_rows_are_the_sums_of_the_tasks_one_by_one(drawn: list[tuple[int, int, int | None, str, str]]) -> None:
    run = run_of(
        tasks=[
            task(stage, place, 0, task_id=place, stage_attempt=attempt, status=status, executor_id=executor)
            | {"executor_run_time_ms": run_ms, "gc_time_ms": run_ms, "input_bytes": run_ms}
            for place, (stage, attempt, run_ms, status, executor) in enumerate(drawn)
        ],
        executors=[executor("1", 1), executor("2", 1)],
    )
    rows = stage_rows(run)
    assert [(row.stage_id, row.attempt) for row in rows] == sorted({one[:2] for one in drawn})
    for row in rows:
        mine = [one for one in drawn if one[:2] == (row.stage_id, row.attempt)]
        spent = sum(one[2] or 0 for one in mine)
        assert (row.tasks, row.task_ms, row.input_bytes) == (len(mine), spent, spent)
        assert row.gc_ratio == (1 if spent else 0)
        assert row.failed == sum(one[3] == "failed" for one in mine)
        good = sorted(one[2] or 0 for one in mine if one[3] == "success")
        if len(good) < 2:
            assert row.spread is None
        else:
            assert row.spread is not None
            quartiles = [row.spread.quarter, row.spread.median, row.spread.three_quarters]
            assert quartiles == pytest.approx(statistics.quantiles(good, n=4, method="inclusive"))
            assert (row.spread.least, row.spread.most) == (good[0], good[-1])
    for lane in executor_rows(run):
        mine = [one for one in drawn if one[4] == lane.executor_id]
        assert (lane.tasks, lane.task_ms) == (len(mine), sum(one[2] or 0 for one in mine))
