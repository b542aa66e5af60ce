"""Classes or methods were looked up by name for each row.

## What it means
Class.forName, getMethod and loadClass search jars and tables, and a class loader lets only one thread at a time look
for the same class. They are meant for start-up. Inside of a function that runs for each row they are paid for each row,
and tasks wait for each other.

## What it costs
An upper bound: CPU time, time in native code and waits for locks of these stacks, taken off the tasks before the
schedule is replayed.

## What to do
Look the class or method up once, keep it in a static field or a lazy val of an object, and call it through that.
Libraries that map by reflection (bean mappers, some JSON libraries) have a prepared reader or writer: make it once.

## When to ignore it
When it is the first seconds of a short application, in which classes are loaded for the first time anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import REFLECTION

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "looking up classes and methods by name", 0.7, "the lookups taken off, as where each is done once.", _advice
    )
    return findings(run, REFLECTION.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Keep what {asker(spots)} looks up (class, method, constructor) in a static field or a lazy val of an object, "
        "and use that for each row.",
    )


RULE = Rule(
    code=REFLECTION.code, name="reflection-per-row", since="0.1", reads=READS, limits=Limits(ratio=0.1), check=check
)
