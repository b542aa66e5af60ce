from __future__ import annotations

import numpy as np

from emberscope.simulate.stage_tasks import stage_tasks
from tests.runs import run_of, task


def test_tasks_are_grouped_by_stage_attempt_and_ordered_by_launch() -> None:
    rows = [task(1, 5, 10), task(0, 9, 10), task(0, 3, 10), task(0, 1, 10, stage_attempt=1)]
    stages = stage_tasks(run_of(tasks=rows))
    assert [stage.key for stage in stages] == [(0, 0), (0, 1), (1, 0)]
    assert np.diff(stages[0].numbers("launch_ms")).tolist() == [6]


def test_succeeded_leaves_out_failures_and_tasks_without_metrics() -> None:
    rows = [task(0, 1, 10), task(0, 2, 10, status="failed"), task(0, 3, 10, executor_run_time_ms=None)]
    (stage,) = stage_tasks(run_of(tasks=rows))
    assert (len(stage), len(stage.succeeded())) == (3, 1)


def test_unknown_amounts_are_nan_as_numbers_and_nothing_in_sums() -> None:
    (stage,) = stage_tasks(run_of(tasks=[task(0, 1, 10, gc_time_ms=None)]))
    assert np.isnan(stage.numbers("gc_time_ms")).all()
    assert stage.amounts("gc_time_ms").tolist() == [0]


def test_a_task_that_ends_before_it_starts_has_no_duration() -> None:
    (stage,) = stage_tasks(run_of(tasks=[task(0, 10, 5, finish_ms=3)]))
    assert np.isnan(stage.durations_ms()).all()


def test_no_tasks_no_stages() -> None:
    assert list(stage_tasks(run_of(tasks=[]))) == []


def test_what_a_clock_made_negative_is_not_known() -> None:
    (stage,) = stage_tasks(run_of(tasks=[task(0, 1, 10, executor_run_time_ms=-7, gc_time_ms=-1, partition=-1)]))
    assert stage.run_ms().tolist() == [0]
    assert np.isnan(stage.numbers("gc_time_ms")).all()
    assert stage.numbers("partition").tolist() == [-1]
    assert len(stage.succeeded()) == 0
