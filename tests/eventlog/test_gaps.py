"""Numbers that are missing, however large a number in a name or a file is."""

from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.gaps import gaps


@given(present=st.sets(st.integers(0, 30)), start=st.integers(0, 30), end=st.integers(0, 30))
def test_prop_those_that_are_not_there(present: set[int], start: int, end: int) -> None:
    missing = [number for number in range(start, end) if number not in present]
    count, some = gaps(present, start, end)
    assert count == len(missing)
    assert some == ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")


def test_a_range_that_no_memory_holds() -> None:
    assert gaps({1, 3}, 1, 10**18) == (10**18 - 3, "2, 4, 5, 6, 7, ...")
