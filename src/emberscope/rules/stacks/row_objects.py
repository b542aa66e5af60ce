"""Rows were turned into objects for a function, and back.

## What it means
Spark keeps rows in a compact binary form. A function over Row, a case class or a collection (a typed Dataset's map and
filter, a UDF with structs or arrays as arguments) needs objects: the fields of every row are decoded, boxed and copied,
and the result is encoded again.

## What it costs
An upper bound: the CPU time of the conversion, not of the function itself, taken off the tasks before the schedule is
replayed.

## What to do
Give the function only the columns that it needs, as plain numbers and strings: select before map. Use column
expressions and higher-order functions (transform, filter, aggregate) in place of functions over arrays and structs. Put
several typed steps next to each other, so that rows are converted once.

## When to ignore it
When the function does what expressions cannot, works on few columns already, and takes far longer than the conversion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, findings
from emberscope.rules.stacks.patterns import ROW_OBJECTS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "turning rows into objects and back",
        0.6,
        "the task time of these stacks taken off, as if the work were free.",
        _advice,
    )
    return findings(run, ROW_OBJECTS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        "Give the function only the columns that it needs, as plain numbers and strings, or write it with column "
        "expressions (transform, filter and aggregate work on arrays without objects).",
    )


RULE = Rule(code=ROW_OBJECTS.code, name="rows-as-objects", since="0.1", reads=READS, limits=Limits(), check=check)
