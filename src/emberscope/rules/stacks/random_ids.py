"""Secure random numbers were drawn for each row.

## What it means
UUID.randomUUID and SecureRandom give numbers that nobody can guess. They ask the operating system or compute a digest
for each number, and threads of an executor wait for each other at the lock around the source. Ids for rows need none of
this.

## What it costs
An upper bound: CPU time, time in native code and waits for locks of these stacks, taken off the tasks before the
schedule is replayed.

## What to do
Use uuid() or monotonically_increasing_id() of Spark, a hash of the row's own key (xxhash64; sha2 where no two may
collide), or a plain generator (a SplittableRandom for each partition, ThreadLocalRandom). Ids made from the key also
stay the same when a task runs again.

## When to ignore it
When the numbers are secrets, such as tokens, salts and keys: then they have to be drawn like this, but perhaps for
fewer rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import RANDOM_IDS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "drawing secure random numbers",
        0.8,
        "the task time of these stacks taken off, as if the work were free.",
        _advice,
    )
    return findings(run, RANDOM_IDS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"In place of {asker(spots)} use uuid() of Spark SQL or a hash of the row's key (xxhash64), or "
        "ThreadLocalRandom: an id for a row needs no secure randomness.",
    )


RULE = Rule(code=RANDOM_IDS.code, name="secure-random-hot", since="0.1", reads=READS, limits=Limits(), check=check)
