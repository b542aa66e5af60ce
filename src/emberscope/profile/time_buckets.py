"""How long the time buckets of a page may be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

MOST_BUCKETS: Final = 1800
"""No page has more: half an hour by the second."""

LEAST_BUCKETS: Final = 30
"""Fewer, and a piece of time says little."""

_MS: Final = 1_000_000
_LENGTHS_MS: Final = (20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000)
_LENGTHS_MIN: Final = (1, 2, 5, 10, 30, 60, 120, 360, 720, 1440)


def bucket_lengths(low_ns: int, high_ns: int) -> list[int]:
    """Lengths in ns of buckets that may hold these times, the shortest first: no more than `MOST_BUCKETS`, and, but for
    the first, no less than `LEAST_BUCKETS` of them. Buckets begin at the multiples of their length."""

    def count(length: int) -> int:
        return high_ns // length - low_ns // length + 1

    fitting = (length for length in _lengths() if count(length) <= MOST_BUCKETS)
    shortest = next(fitting)
    return [shortest, *takewhile(lambda length: count(length) >= LEAST_BUCKETS, fitting)]


def length_words(length_ns: int) -> str:
    """A length for people: `20 ms`, `2 s`, `10 min`."""
    ms = length_ns // _MS
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms // 1000} s" if ms < 60_000 else f"{ms // 60_000:,} min"


def _lengths() -> Iterator[int]:
    """Lengths that people count in, from 20 ms (less than a sampler's period) up without an end."""
    yield from (ms * _MS for ms in _LENGTHS_MS)
    length = 0
    for minutes in _LENGTHS_MIN:
        length = minutes * 60_000 * _MS
        yield length
    while True:
        length *= 2
        yield length
