"""Tasks spent much time on wrapping numbers into objects.

## What it means
Collections and generic functions in Java and Scala mostly hold objects, not plain numbers: each number becomes one
(java.lang.Long, Integer, Double), which is allocated, reached through a pointer and collected later. In loops over rows
that often takes longer than the computation.

## What it costs
An upper bound: the CPU time of these stacks, as if numbers stayed plain, taken off the tasks before the schedule is
replayed. What the objects cost beside that, collections and memory, is not in it.

## What to do
Use arrays of primitives (long[] in place of List<Long>), primitive streams, or maps made for numbers (fastutil, Spark's
OpenHashMap); in Scala, while loops over arrays in place of map and sum over sequences. Best of all, write the step with
DataFrame expressions: Spark's generated code keeps numbers plain.

## When to ignore it
When the objects come from a library that leaves no other way, or when the function runs on few rows.
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
