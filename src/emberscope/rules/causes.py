"""Which findings are consequences of which: pairs of rules, told by the place they share."""

from collections.abc import Sequence
from typing import Final

from emberscope.rules.base import Where

# (consequence, cause): where both name the same stage, or the same process, the first one goes away with the second.
PAIRS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        # time
        ("A2", "B1"),  # cores wait for the straggler
        ("A2", "A1"),  # executors wait for the driver
        ("A2", "A5"),  # cores that the stage has no tasks for
        ("A2", "A6"),
        ("A6", "F9"),  # the operator that needs all rows in one task
        ("A8", "A7"),  # the driver cannot hand out so many tasks
        ("A8", "B6"),  # tasks wait for the executor that holds their data
        # skew
        ("A2", "B6"),  # cores lay idle because tasks waited for others
        ("A8", "B6"),
        # executors
        ("A2", "H3"),  # cores wait while lost work is done again
        # memory
        ("C3", "B1"),  # the skewed partition is what does not fit into memory
        ("C3", "D3"),  # partitions that are too large do not fit either
        ("C1", "B1"),  # and what fills the heap
        ("C5", "B1"),
        ("C9", "B1"),
        ("H4", "C5"),  # attempts that failed for want of heap
        ("H5", "C5"),
        ("H4", "C6"),  # or of memory for Python
        ("H5", "C6"),
        ("F3", "C6"),  # what Python did in attempts that failed for its memory
        ("A1", "C8"),  # the driver is alone while it makes and sends a broadcast
        ("A2", "C8"),  # and executors wait for it
        # shuffle
        ("A5", "D3"),  # partitions are few because they are large: the number for their size mends both
        ("D1", "B1"),  # the skewed task waits for its many blocks
        ("D5", "D2"),  # the writes take long because the disk is slow
        ("D7", "B1"),  # one key makes the block large
        ("D7", "D3"),  # or all partitions are large
        ("D4", "F2"),  # the join or the generator that multiplies the rows
        ("D4", "F9"),
        ("D5", "F2"),
        ("D5", "F9"),
        # storage
        ("E9", "E2"),  # the commit moves every file
        ("A2", "E10"),  # cores wait for the only task that writes
        ("A5", "E10"),
        ("A6", "E10"),
        ("A2", "E8"),  # and for the only one that reads
        ("A5", "E3"),  # splits that are too large are too few
        ("A7", "E3"),  # and those that are too small too many
        ("A10", "E3"),
        # plan and cache
        ("B1", "F2"),  # one key of the join has most of the rows that came out
        ("C1", "F2"),
        ("C3", "F2"),  # what explodes does not fit into memory
        ("C1", "F9"),
        ("C3", "F9"),  # all rows in one task do not fit into its memory
        ("A5", "F9"),
        ("A6", "F9"),  # the window is why there is one task
        # stacks
        ("C1", "S18"),  # what that place allocates is what is collected
        # settings
        # streaming
    }
)


def causes(code: str, where: Where, others: Sequence[tuple[str, Where]]) -> tuple[int, ...]:
    """The indices of those `others` that cause a finding of rule `code` at `where`."""
    return tuple(
        index
        for index, (other, other_where) in enumerate(others)
        if (code, other) in PAIRS and _same_place(where, other_where)
    )


def _same_place(a: Where, b: Where) -> bool:
    if a.stage is not None:
        return (a.stage, a.stage_attempt) == (b.stage, b.stage_attempt)
    return a.executor is not None and a.executor == b.executor
