"""A set of ids, whatever the ids are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.id_set import IdSet

IDS = st.lists(st.one_of(st.integers(-3, 40), st.sampled_from([-(2**63), 2**63 - 1, 2**40])), max_size=20)


@given(added=st.lists(IDS, max_size=4), asked=IDS)
def test_it_holds_what_was_added(added: list[list[int]], asked: list[int]) -> None:
    ids = IdSet(30)
    for some in added:
        ids.add(np.array(some, dtype=np.int64))
    held = {number for some in added for number in some}
    assert ids.holds(np.array(asked, dtype=np.int64)).tolist() == [number in held for number in asked]
    again = IdSet(30).unpack(ids.packed())
    assert again.holds(np.array(asked, dtype=np.int64)).tolist() == [number in held for number in asked]
    assert len(again) == len(ids) == len(held)
    more = {number for number in asked if 0 <= number < 100}
    there = {number for number in held if number >= 0} | more
    missing = max(there, default=-1) + 1 - len(there)
    assert ids.gaps(np.array(sorted(more), dtype=np.int64)) == missing
