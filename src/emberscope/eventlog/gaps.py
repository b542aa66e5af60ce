"""The numbers that a series of files lacks."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

_SHOWN = 5


def gaps(present: Collection[int], start: int, end: int) -> tuple[int, str]:
    """How many of the numbers from `start` to before `end` are not present, and the first few of them as words.

    The numbers come from names and contents of files: a range of them may be far larger than memory.
    """
    there = {number for number in present if start <= number < end}
    count = max(0, end - start) - len(there)
    some = islice((number for number in range(start, end) if number not in there), _SHOWN)
    return count, ", ".join(map(str, some)) + (", ..." if count > _SHOWN else "")
