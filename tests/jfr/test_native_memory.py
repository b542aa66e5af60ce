"""Native memory that was given back, and that was not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emberscope.jfr.native_memory import freed

ADDRESSES = st.sampled_from([-(2**63), -1, 0, 64, 2**63 - 1])
CALLS = st.lists(st.tuples(st.sampled_from(["malloc", "free"]), st.integers(0, 20), ADDRESSES), max_size=30)


def _freed(mallocs, frees):
    def columns(calls):
        return [np.array([call[i] for call in calls], np.int64) for i in (0, 1)]

    return freed(*columns(mallocs), *columns(frees)).tolist()


def test_a_free_belongs_to_the_last_allocation_at_its_address():
    mallocs = [(10, 64), (30, 64), (10, 128), (50, 64)]
    assert _freed(mallocs, [(20, 64), (40, 64), (5, 128), (7, 999)]) == [True, True, False, False]


def test_an_address_that_was_allocated_anew_hides_a_free_that_was_not_seen():
    assert _freed([(10, 64), (30, 64)], [(40, 64)]) == [False, True]


def test_without_events_nothing_is_freed():
    assert _freed([], [(1, 64)]) == []
    assert _freed([(1, 64)], []) == [False]


@given(CALLS)
def test_prop_the_same_as_to_go_through_all_calls_in_time(calls):
    mallocs = [(time, address) for what, time, address in calls if what == "malloc"]
    frees = [(time, address) for what, time, address in calls if what == "free"]
    live: dict[int, int] = {}
    gone = [False] * len(mallocs)
    timed = [(time, 1, address, number) for number, (time, address) in enumerate(mallocs)]
    for _, is_malloc, address, number in sorted(timed + [(time, 0, address, -1) for time, address in frees]):
        if is_malloc:
            live[address] = number
        elif address in live:
            gone[live.pop(address)] = True
    assert _freed(mallocs, frees) == gone
