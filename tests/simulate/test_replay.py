from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.simulate.replay import Timeline, end_ms, makespan_ms, saving, timeline
from emberscope.tables.run import Run
from tests.runs import START_MS, any_runs, executor, job, run_of, spark_wrote, stage, task


def timeline_of(run: Run) -> Timeline:
    found = timeline(run)
    assert found is not None
    return found


def two_jobs(second_start_ms: int, second_end_ms: int) -> Run:
    """Stage 0 of job 0 from 1 s to 11 s, one task; stage 1 of job 1, one task."""
    return run_of(
        20_000,
        executors=[executor("1", 2)],
        jobs=[job(0, 1_000, 11_000), job(1, second_start_ms, second_end_ms)],
        stages=[stage(0, 1_000, 11_000), stage(1, second_start_ms, second_end_ms, job_id=1)],
        tasks=[task(0, 1_000, 10_000), task(1, second_start_ms, second_end_ms - second_start_ms)],
    )


@pytest.mark.parametrize(
    ("durations", "slots", "expected"),
    [([], 2, 0), ([5, 3], 2, 5), ([5, 5, 5], 2, 10), ([1, 1, 1, 9], 2, 10), ([4, 3, 2, 1], 1, 10)],
)
def test_makespan_of_list_scheduling(durations: list[float], slots: int, expected: float) -> None:
    assert makespan_ms(np.array(durations, dtype=np.float64), slots) == expected


def test_a_stage_before_another_job_saves_what_it_is_shortened_by() -> None:
    price = saving(timeline_of(two_jobs(12_000, 15_000)), {(0, 0): np.array([4_000.0])})
    assert price.wall_ms == 6_000
    assert "10.0 s → 4.0 s" in price.basis
    assert "20.0 s → 14.0 s" in price.basis


def test_a_stage_that_another_job_hides_saves_nothing_and_says_so() -> None:
    price = saving(timeline_of(two_jobs(2_000, 18_000)), {(0, 0): np.array([1_000.0])})
    assert price.wall_ms == 0
    assert price.stage_ms == 9_000
    assert "other work ran until after it" in price.basis


def test_a_partly_hidden_stage_saves_up_to_the_other_one() -> None:
    price = saving(timeline_of(two_jobs(2_000, 9_000)), {(0, 0): np.array([1_000.0])})
    assert price.wall_ms == 2_000


def test_a_child_stage_starts_when_its_slowest_parent_is_done() -> None:
    run = run_of(
        20_000,
        executors=[executor("1", 2)],
        jobs=[job(0, 0, 16_000)],
        stages=[stage(0, 0, 10_000), stage(1, 0, 8_000), stage(2, 11_000, 15_000, parent_ids=[0, 1])],
        tasks=[task(0, 0, 10_000), task(1, 0, 8_000), task(2, 11_000, 4_000)],
    )
    assert saving(timeline_of(run), {(0, 0): np.array([1_000.0])}).wall_ms == 2_000
    both = {(0, 0): np.array([1_000.0]), (1, 0): np.array([1_000.0])}
    assert saving(timeline_of(run), both).wall_ms == 9_000


def test_slots_are_the_cores_of_a_stage_that_is_alone() -> None:
    stages = {s.key: s.slots for s in timeline_of(two_jobs(12_000, 15_000)).stages}
    assert stages == {(0, 0): 2, (1, 0): 2}
    shared = {s.key: s.slots for s in timeline_of(two_jobs(2_000, 9_000)).stages}
    assert shared == {(0, 0): 1, (1, 0): 1}


def test_no_timeline_without_tasks_or_times() -> None:
    assert timeline(run_of(tasks=[])) is None
    assert timeline(run_of(None, tasks=[task(0, 0, 10)])) is None


def test_the_replay_of_a_real_run_without_changes_ends_when_it_ended() -> None:
    application = timeline_of(spark_wrote("skew_spill_python"))
    assert end_ms(application, {}) == pytest.approx(application.end_ms, abs=1)


@given(any_runs(), st.floats(0, 1))
def test_prop_a_saving_is_never_negative_nor_more_than_the_stage(run: Run, factor: float) -> None:
    application = timeline(run)
    if application is None:
        return
    changed = {s.key: s.durations_ms * factor for s in application.stages}
    for key, durations in changed.items():
        price = saving(application, {key: durations})
        assert 0 <= price.wall_ms <= price.stage_ms + 1
    assert saving(application, {key.key: key.durations_ms for key in application.stages}).wall_ms == 0
    assert min(s.start_ms for s in application.stages) >= START_MS - 2_000


@pytest.mark.parametrize(("cpus", "slots"), [("1", 5), ("2", 2), ("3", 1), ("8", 1)])
def test_slots_are_what_the_cores_of_each_executor_hold(cpus: str, slots: int) -> None:
    run = run_of(
        10_000,
        conf={"spark.task.cpus": cpus},
        executors=[executor("1", 3), executor("2", 2)],
        jobs=[job(0, 0, 10_000)],
        stages=[stage(0, 0, 10_000)],
        tasks=[task(0, 0, 10_000)],
    )
    assert timeline_of(run).stages[0].slots == slots


def test_executors_that_came_later_and_went_earlier_are_slots_too() -> None:
    """A stage of 40 s that grew to 6 cores and shrank again."""
    executors = [executor("1", 2), executor("2", 4, 10_000, 30_000)]
    run = run_of(
        tasks=[task(0, 0, 40_000)], stages=[stage(0, 0, 40_000)], jobs=[job(0, 0, 40_000)], executors=executors
    )
    assert [one.slots for one in timeline_of(run).stages] == [6]


def test_a_stage_that_ends_before_it_begins_lasts_as_long_as_its_tasks() -> None:
    run = run_of(
        tasks=[task(0, 1_000, 9_000)],
        stages=[stage(0, 50_000, 1_000)],
        jobs=[job(0, 0, 10_000)],
        executors=[executor("1", 2)],
    )
    (only,) = timeline_of(run).stages
    assert (only.start_ms - START_MS, only.end_ms - START_MS) == (1_000, 10_000)
