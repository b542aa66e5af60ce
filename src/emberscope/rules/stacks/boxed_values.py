"""Tasks spent time on wrapping numbers into objects.

## What it means
A collection or a generic function in Java and Scala cannot hold a plain number: each one becomes an object
(java.lang.Long, Integer, Double), which is allocated, followed by pointer and collected. In loops over rows that is
often dearer than the computation.

## What it costs
The CPU time of these stacks taken off each task of the stage and replayed. It is a lower bound of the trouble: the
collections that the objects cause, and the memory they are spread over, are not in it.

## What to do
Use arrays of primitives (long[] in place of List<Long>), primitive streams, or maps made for numbers (fastutil,
Spark's OpenHashMap); in Scala specialised loops in place of map and sum over boxed sequences. Best of all, write the
step with DataFrame expressions: Spark's generated code keeps numbers plain.

## When to ignore it
When the objects come from a library that gives no other way, or the function runs on few rows after a reduction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import BOXED_VALUES

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "making objects of numbers", 0.6, "the task time of these stacks taken off, as if the work were free.", _advice
    )
    return findings(run, BOXED_VALUES.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"In {asker(spots)} keep numbers plain: long[] and double[] in place of collections of Long and Double, a loop "
        "in place of a stream of objects, or DataFrame expressions in place of the function.",
    )


RULE = Rule(code=BOXED_VALUES.code, name="boxed-values", since="0.1", reads=READS, limits=Limits(), check=check)
