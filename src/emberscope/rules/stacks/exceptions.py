"""Exceptions were thrown for ordinary rows.

## What it means
When an exception is made, the JVM walks the whole stack and writes it down. Stacks of Spark's tasks are a hundred
frames deep, so one takes ten to a hundred microseconds: far more than the parsing that failed. It happens where bad
values are common and are handled by catch: parseInt of an empty text, a missing key, a date in another form.

## What it costs
An upper bound: CPU time in Throwable, taken off the tasks before the schedule is replayed. Flight Recorder cannot
sample this code; there the CPU time is taken that no sample shows, in proportion to what is allocated for stack traces.

## What to do
Test before you try: check for null, empty or wrong form in place of catch. In a query use try_cast, try_to_number or
try_to_timestamp. An exception that only steers your own code can be made without its stack (a constructor with
writableStackTrace=false, NoStackTrace in Scala).

## When to ignore it
When the rows that fail come from a fault upstream that will be repaired; then mend the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import EXCEPTIONS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words("making exceptions", 0.7, "the making of exceptions taken off.", _advice)
    return findings(run, EXCEPTIONS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Test for the values that fail before {asker(spots)} tries them (null, empty, wrong form), or use try_cast "
        "and try_to_timestamp in a query; make exceptions for control flow without a stack trace.",
    )


RULE = Rule(code=EXCEPTIONS.code, name="exceptions-per-row", since="0.1", reads=READS, limits=Limits(), check=check)
