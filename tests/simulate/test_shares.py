from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from emberscope.simulate.shares import shares, steps
from emberscope.tables.run import Run
from tests.runs import any_runs, executor, job, run_of, task


def test_each_instant_belongs_to_who_had_it() -> None:
    run = run_of(
        10_000,
        jobs=[job(0, 1_000, 8_000)],
        executors=[executor("1", 2, 1_500)],
        tasks=[task(0, 2_000, 4_000), task(0, 2_000, 2_000)],
    )
    owned = shares(run)
    assert owned is not None
    assert owned.driver_ms == 3_000
    assert (owned.before_first_job_ms, owned.after_last_job_ms) == (1_000, 2_000)
    assert owned.without_executor_ms == 500
    assert owned.waiting_ms == 500 + 2_000
    assert owned.idle_ms == 1_000
    assert owned.task_ms.tolist() == [2_000, 1_000]


def test_a_log_without_executors_still_shows_how_many_cores_there_were_at_least() -> None:
    run = run_of(4_000, jobs=[job(0, 0, 4_000)], tasks=[task(0, 0, 4_000), task(0, 0, 2_000)])
    owned = shares(run)
    assert owned is not None
    assert owned.idle_ms == 1_000


def test_a_task_owns_all_the_cores_that_it_occupies() -> None:
    run = run_of(
        4_000,
        conf={"spark.task.cpus": "2"},
        jobs=[job(0, 0, 4_000)],
        executors=[executor("1", 4)],
        tasks=[task(0, 0, 4_000), task(0, 0, 2_000)],
    )
    owned, pieces = shares(run), steps(run)
    assert owned is not None
    assert pieces is not None
    assert pieces.running.tolist() == [2, 1]
    assert pieces.occupied.tolist() == [4, 2]
    assert owned.idle_ms == 1_000
    assert owned.task_ms.tolist() == [2_000, 1_000]


@given(any_runs())
def test_prop_shares_sum_to_the_duration(run: Run) -> None:
    owned = shares(run)
    if owned is None:
        assert run.application.observed_ms is None
        return
    parts = [
        owned.driver_ms,
        owned.waiting_ms,
        owned.without_executor_ms,
        owned.idle_ms,
        owned.unended_ms,
        *owned.task_ms,
    ]
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(owned.duration_ms)
    assert owned.before_first_job_ms + owned.after_last_job_ms <= owned.driver_ms + 1e-6
    assert np.all(owned.task_ms <= owned.duration_ms + 1e-6)
