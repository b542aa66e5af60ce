"""Much CPU time went into computing hash codes of strings.

## What it means
A map or set with strings as keys reads each key from end to end for its hash. A string remembers its hash, but one that
was just read or put together has none yet. Long keys, keys made by concatenation, and lookups for each row can make
that a large part of a stage.

## What it costs
An upper bound: the CPU time in String.hashCode, as if keys were numbers, taken off the tasks before the schedule is
replayed.

## What to do
Join by numbers in place of looking strings up in a map, or replace each string by a number once. In place of a
concatenated key use several columns, or a small class with fields. Look up once for each run of equal values.

## When to ignore it
When the keys are short and the map is what the function is for, such as a small lookup by country code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import INHERENT, READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import STRING_HASHES

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words("hashing strings", 0.5, "the task time of these stacks taken off, as if the work were free.", _advice)
    return findings(run, STRING_HASHES.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"In {asker(spots)} use a number or several columns as the key in place of a long or concatenated text, or "
        "join by a DataFrame in place of a map.",
    )


RULE = Rule(code=STRING_HASHES.code, name="string-hashes-hot", since="0.1", reads=READS, limits=INHERENT, check=check)
