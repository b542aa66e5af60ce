from __future__ import annotations

from dataclasses import replace

from emberscope.report.stage_rows import Spread, executor_rows, stage_rows
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


def test_executors_that_spark_had() -> None:
    rows = executor_rows(spark_wrote("skew_spill_python"))
    assert sorted(row.executor_id for row in rows) == ["0", "1"]
    assert all(row.cores == 1 and row.tasks > 3 for row in rows)
    assert sum(row.tasks for row in rows) == spark_wrote("skew_spill_python").tables["tasks"].num_rows


def test_no_executors_are_known_without_their_table() -> None:
    assert executor_rows(replace(run_of(), tables={})) == []
