"""Much CPU time went into decimals with more than 18 digits.

## What it means
Spark computes a decimal of up to 18 digits as one long. Above, each value is an object of java.math.BigDecimal, and
each operation makes new ones. Products, quotients and sums have more digits than their operands: decimal(10,2) times
decimal(10,2) is decimal(21,4), large already, and a sum gets ten more.

## What it costs
An upper bound: the CPU time of BigDecimal taken off the tasks before the schedule is replayed. Arithmetic with longs or
doubles in its place is nearly free.

## What to do
Cast operands to the digits that they need, so that results fit into 18: decimal(8,2) times decimal(9,2) is
decimal(18,4). Use double where rounding does not matter, or a long of whole cents. Cast the end result once.

## When to ignore it
When the digits are needed: sums of money over very many rows want decimal(38,s) at the end, though not in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import LARGE_NUMBERS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "computing with BigDecimal", 0.6, "the task time of these stacks taken off, as if the work were free.", _advice
    )
    return findings(run, LARGE_NUMBERS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Keep decimals within 18 digits where {asker(spots)} computes: cast operands to what they need (a product of "
        "decimal(9,2) and decimal(9,2) has 19 digits, of decimal(8,2) and decimal(9,2) 18), or use long "
        "cents or double.",
    )


RULE = Rule(
    code=LARGE_NUMBERS.code, name="big-decimals-hot", since="0.1", reads=READS, limits=Limits(ratio=0.1), check=check
)
