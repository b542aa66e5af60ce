"""A join or an explode makes far more rows than went in.

## What it means
A key that stands several times on both sides gives the product of both counts; explode gives a row for each element;
nulls and defaults as keys meet each other.

## What it costs
Memory, disk, network and time of all that follows, by the factor by which the rows were multiplied.

## What to do
Make the keys of one side unique before the join, aggregate before and not after it, and explode as late and as few
columns as possible.

## When to ignore it
When the rows are wanted, as every pair of an item with its labels is, and what follows is sized for their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_MULTIPLIED_ROWS: Final = Signature(
    name="told-multiplied-rows",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bjoin",
            r"duplicat|more rows|rows? (explode|multipl|increase|grow)|many.to.many|(output|"
            r"result).{0,30}(larger|bigger|more|billion)|explod(es|ing)|blow",
        ),
        (
            r"\bexplode|posexplode|flatMap",
            SLOW + r"|memory|oom|rows|large|spill|blow",
        ),
        (r"(billions?|trillions?) of rows.{0,60}(after|from) (the |a )?join",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_MULTIPLIED_ROWS.name)
    if rows:
        yield answer(
            rows,
            title="A join on keys that are not unique, or an explode, multiplies the rows",
            summary="A key with m rows on one side and n on the other makes m times n; a default or empty key"
            " does it at its worst. What follows (shuffle, sort, write) then works on the product.",
            advice=(
                Advice(
                    "code",
                    "Look for keys with many rows on both sides: "
                    "groupBy(key).count().orderBy(desc('count')); dropDuplicates([key]) or aggregate the "
                    "one side before the join; filter null and default keys; left_semi where only "
                    "existence counts.",
                ),
                Advice(
                    "code",
                    "explode only the columns needed, after filters, or not at all: transform, filter, "
                    "aggregate and exists work on arrays in place; repartition after an explode so that "
                    "it is spread.",
                ),
            ),
            confirm="The event log tells the rows before and after each operator.",
        )


RULE = Rule(
    code="W36",
    name="told-multiplied-rows",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_MULTIPLIED_ROWS,),
)
