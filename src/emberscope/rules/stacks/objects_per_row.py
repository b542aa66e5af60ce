"""Objects that take long to make were made for each row and thrown away.

## What it means
Some objects take far longer to make than to use: SimpleDateFormat, DateTimeFormatter, ObjectMapper, Gson,
DecimalFormat, ciphers, digests, XML factories, schemas, Hadoop configurations. They load tables and resources when they
are made, for the thousandth row as for the first.

## What it costs
An upper bound: the CPU time of the stacks in which they are made, taken off the tasks before the schedule is replayed.
Their use is not in it.

## What to do
Make them once for each executor: a lazy val in a Scala object, a static final field in Java. Those that threads must
not share (SimpleDateFormat, DecimalFormat, ciphers, digests) go into a ThreadLocal, or are made once for each partition
with mapPartitions. All threads may share a DateTimeFormatter, a Gson, and an ObjectMapper once it is configured.

## When to ignore it
When they are made once for each partition already and partitions have few rows; then use fewer partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import OBJECTS_PER_ROW

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "making objects that could be kept", 0.9, "the making taken off, as where each object is made once.", _advice
    )
    return findings(run, OBJECTS_PER_ROW.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Make {_made(spots)} once, not in each call of {asker(spots)}: a static final field or a lazy val of an "
        "object, a ThreadLocal where it must not be shared between threads, or mapPartitions.",
    )


def _made(spots: Sequence[Spot]) -> str:
    """The class that is made in the hottest stack."""
    for frame in spots[0].callers[0].stack:
        if re.match(OBJECTS_PER_ROW.expression, frame):
            return frame.rsplit(".", 2)[-2]
    return "the object"


RULE = Rule(
    code=OBJECTS_PER_ROW.code, name="objects-made-per-row", since="0.1", reads=READS, limits=Limits(), check=check
)
