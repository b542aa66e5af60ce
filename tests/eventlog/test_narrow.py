"""Columns in few bytes come back as they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.events import ABSENT
from emberscope.eventlog.narrow import NarrowColumns

NUMBERS = st.one_of(
    st.sampled_from([ABSENT, 0, 1, 255, 256, 1_600_000_000_000, 2**63 - 1, -(2**63) + 1]),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 70_000),
)


@given(batches=st.lists(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20), max_size=4))
def test_all_values_come_back(batches: list[list[tuple[int, int]]]) -> None:
    columns = NarrowColumns(2)
    for batch in batches:
        columns.add(np.ascontiguousarray(np.array(batch, dtype=np.int64).T))
    rows = [row for batch in batches for row in batch]
    assert columns.rows == len(rows)
    assert [columns.take(at).tolist() for at in (0, 1)] == [[row[at] for row in rows] for at in (0, 1)]


def test_a_column_can_be_taken_once() -> None:
    columns = NarrowColumns(1)
    columns.add(np.array([[1, 2]], dtype=np.int64))
    columns.take(0)
    with pytest.raises(ValueError, match="has been taken"):
        columns.take(0)
