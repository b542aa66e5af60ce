"""Sums are those of unbounded integers, or null: never what 64 bits make of them."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from emberscope.eventlog.events import ABSENT
from emberscope.eventlog.task_totals import SUMMED, Totals

_INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-1000, 1000)


@given(st.lists(st.lists(_INT64, min_size=1, max_size=6), max_size=4))
@example([[2**63 - 1, 1]])
@example([[-(2**63) + 1, -(2**62), -5], [7]])
def test_prop_totals_are_exact(batches: list[list[int]]) -> None:
    totals = Totals()
    for values in batches:
        column = np.array(values, dtype=np.int64)
        columns = dict.fromkeys(SUMMED, column) | {"has_metrics": np.ones(len(values), dtype=np.int64)}
        totals.add(columns, np.zeros(len(values), dtype=np.int64))
    known = [value for values in batches for value in values if value != ABSENT]
    assert set(totals.result().sums.values()) == {sum(known) if known else None}
