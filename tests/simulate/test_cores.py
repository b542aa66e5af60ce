from __future__ import annotations

import numpy as np

from emberscope.simulate.cores import core_steps, cores_at, observed_window, offered_core_ms
from tests.runs import START_MS, executor, run_of, without


def test_offered_core_time_follows_executors_that_come_and_go() -> None:
    run = run_of(10_000, executors=[executor("1", 2, 1_000), executor("2", 4, 2_000, 5_000)])
    assert offered_core_ms(run) == 2 * 9_000 + 4 * 3_000


def test_an_executor_counts_inside_the_application_only() -> None:
    run = run_of(10_000, executors=[executor("1", 1, -500, 20_000)])
    assert offered_core_ms(run) == 10_000


def test_cores_at_any_time() -> None:
    run = run_of(executors=[executor("1", 2, 1_000), executor("2", 4, 2_000, 5_000)])
    steps = core_steps(run)
    assert steps is not None
    at = np.array([0, 1_000, 1_999, 2_000, 4_999, 5_000, 90_000]) + START_MS
    assert cores_at(steps, at).tolist() == [0, 2, 2, 6, 6, 2, 2]


def test_nothing_is_claimed_without_executors_or_times() -> None:
    assert offered_core_ms(run_of(executors=[])) is None
    assert offered_core_ms(without(run_of(), "executors")) is None
    assert offered_core_ms(run_of(None, executors=[executor("1", 2)])) is None
    assert observed_window(run_of(0)) is None
