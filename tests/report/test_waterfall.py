from __future__ import annotations

import pytest
from hypothesis import given

from emberscope.report.waterfall import LABELS, Part, waterfall
from emberscope.tables.frames import FRAMES
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stack_tree import StackTree
from tests.runs import any_runs, executor, job, run_of, spark_wrote, stage, task, with_rows


def parts_of(run: Run) -> dict[str, int]:
    return {part.part: part.wall_ms for part in waterfall(run)}


def one_task(**more: object) -> Run:
    """10 s, one core, one task from 2 s to 8 s whose body takes 5 s."""
    more = {"executor_run_time_ms": 5_000, "executor_cpu_time_ns": 0, **more}
    return run_of(
        10_000,
        tasks=[task(0, 2_000, 6_000, **more)],
        stages=[stage(0, 1_000, 9_000)],
        jobs=[job(0, 1_000, 9_000)],
        executors=[executor("1", 1)],
    )


def test_a_task_is_split_by_its_own_metrics() -> None:
    run = one_task(
        executor_cpu_time_ns=2_000 * 10**6, gc_time_ms=700, shuffle_fetch_wait_ms=300, shuffle_write_time_ns=500 * 10**6
    )
    assert parts_of(run) == {
        "driver_alone": 2_000,
        "scheduling": 2_000,
        "cpu": 2_000,
        "gc": 700,
        "shuffle_fetch_wait": 300,
        "shuffle_write": 500,
        "task_overhead": 1_000,
        "task_wait": 1_500,
        "residual": 0,
    }


def test_times_that_exceed_the_body_are_cut_and_count_once() -> None:
    run = one_task(executor_cpu_time_ns=4_000 * 10**6, gc_time_ms=3_000, shuffle_fetch_wait_ms=3_000)
    parts = parts_of(run)
    assert (parts["cpu"], parts["gc"]) == (4_000, 1_000)
    assert "shuffle_fetch_wait" not in parts


def test_a_task_without_metrics_is_not_explained() -> None:
    assert parts_of(one_task(executor_run_time_ms=None))["residual"] == 6_000


def test_work_that_was_thrown_away_is_its_own_part() -> None:
    assert parts_of(one_task(status="failed"))["failed_attempts"] == 6_000
    assert parts_of(one_task(status="killed"))["failed_attempts"] == 6_000


def test_tasks_that_never_ended_are_their_own_part_for_as_long_as_they_ran() -> None:
    run = run_of(
        10_000,
        running_tasks=[
            {"stage_id": 0, "stage_attempt": 0, "task_id": 1, "launch_ms": 4_000, "until_ms": 10_000, "at_end": True},
            {"stage_id": 0, "stage_attempt": 0, "task_id": 2, "launch_ms": 4_000, "until_ms": 7_000, "at_end": False},
        ],
        stages=[{**stage(0, 2_000, 0), "status": "unfinished", "completed_ms": None}],
        jobs=[{**job(0, 2_000, 0), "status": "unfinished", "completed_ms": None}],
        executors=[executor("1", 2)],
    )
    assert parts_of(run) == {
        "driver_alone": 2_000,
        "scheduling": 2_000,
        "unended_tasks": 4_500,
        "idle_cores": 1_500,
        "residual": 0,
    }


def test_work_and_waits_are_one_part_where_a_task_has_no_cpu_time() -> None:
    stages = [stage(0, 0, 8_000), stage(1, 8_000, 10_000, rdd_names=["PythonRDD"])]
    more = {"executor_cpu_time_ns": None, "gc_time_ms": 500}
    run = run_of(
        10_000,
        tasks=[task(0, 0, 8_000, **more), task(1, 8_000, 2_000, **more)],
        stages=stages,
        jobs=[job(0, 0, 10_000)],
        executors=[executor("1", 1)],
    )
    assert parts_of(run) == {"gc": 1_000, "task_unsplit": 9_000, "residual": 0}


def test_waits_in_a_python_stage_are_python() -> None:
    run = run_of(
        6_000,
        tasks=[task(0, 0, 6_000, executor_cpu_time_ns=10**9)],
        stages=[stage(0, 0, 6_000, rdd_names=["PythonRDD"])],
        jobs=[job(0, 0, 6_000)],
        executors=[executor("1", 1)],
    )
    assert parts_of(run) == {"cpu": 1_000, "python": 5_000, "residual": 0}


def recorded(run: Run, operators: dict[str, int]) -> Run:
    """The run with so many CPU samples of stage 0 in these methods."""
    tree = StackTree()
    rows = []
    for name, count in operators.items():
        node = tree.node([tree.frame("java.lang.Thread.run"), tree.frame(name)])
        rows.append({"event": "cpu", "count": count, "stack": node, "stage_id": 0})
    stacks, frames = tree.tables()
    run = with_rows(run, "samples", SAMPLES.from_rows(rows))
    return with_rows(with_rows(run, "stacks", stacks), "frames", frames)


def test_cpu_is_split_by_the_operators_of_the_samples() -> None:
    run = one_task(executor_cpu_time_ns=4_000 * 10**6)
    sort = "org.apache.spark.util.collection.unsafe.sort.RadixSort.sort"
    parts = parts_of(recorded(run, {sort: 75, "org.example.Mine.slow": 24, "org.apache.spark.rdd.RDD.iterator": 1}))
    assert parts["cpu_sort"] == 3_000
    assert parts["cpu_user"] == 960
    assert parts["cpu_other"] == 40
    assert list(parts)[2:5] == ["cpu_sort", "cpu_user", "cpu_other"]


def test_too_few_samples_split_nothing() -> None:
    run = recorded(one_task(executor_cpu_time_ns=4_000 * 10**6), {"org.example.Mine.slow": 19})
    assert parts_of(run)["cpu"] == 4_000


def test_frames_without_samples_split_nothing() -> None:
    run = recorded(one_task(executor_cpu_time_ns=4_000 * 10**6), {})
    assert parts_of(with_rows(run, "frames", FRAMES.empty()))["cpu"] == 4_000


def test_nothing_is_said_where_the_times_are_not_known() -> None:
    assert waterfall(run_of(None, tasks=[task(0, 0, 10)])) == ()


@pytest.mark.parametrize("log", ["skew_spill_python", "driver_idle_gc", "none"])
def test_what_spark_logged_is_explained(log: str) -> None:
    run = spark_wrote(log)
    parts = waterfall(run)
    assert sum(part.wall_ms for part in parts) == run.application.observed_ms
    assert parts[-1].part == "residual"
    assert parts[-1].ratio < 0.01


def test_every_part_has_words() -> None:
    assert all(Part(name, 1, 1.0).label == label for name, label in LABELS.items())
    assert Part("cpu_sort_merge_join", 1, 1.0).label == "CPU: sort merge join"


@given(any_runs())
def test_prop_parts_sum_to_the_duration_and_none_is_negative(run: Run) -> None:
    parts = waterfall(run)
    if not parts:
        assert run.application.observed_ms is None
        return
    assert sum(part.wall_ms for part in parts) == run.application.observed_ms
    assert min(part.wall_ms for part in parts) >= 0
    assert sum(part.ratio for part in parts) == pytest.approx(1)
    assert parts[-1].part == "residual"
    assert len({part.part for part in parts}) == len(parts)
