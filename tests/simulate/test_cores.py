from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emberscope.simulate.cores import core_steps, cores_at, is_whole, most_between, observed_window, offered_core_ms
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


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8),
    st.integers(-5, 60),
    st.integers(0, 60),
)
def test_prop_the_most_cores_of_a_span_are_those_of_its_best_moment(
    stays: list[tuple[int, int]], begin: int, length: int
) -> None:
    run = run_of(executors=[executor(str(i), i + 1, at, at + stay) for i, (at, stay) in enumerate(stays)])
    steps = core_steps(run)
    assert steps is not None
    moments = np.arange(begin, begin + length + 1) + START_MS
    assert most_between(steps, moments[:1], moments[-1:]).tolist() == [cores_at(steps, moments).max()]


def test_a_log_is_whole_with_both_of_its_ends() -> None:
    run = run_of()
    assert is_whole(run)
    for end in ("app_start_ms", "app_end_ms"):
        assert not is_whole(replace(run, application=replace(run.application, **{end: None})))
