"""A sort of the whole result takes long.

## What it means
orderBy sorts all rows globally: a sample to find ranges, a shuffle, a sort in each partition.

## What it costs
The input is computed twice, once for a sample and once for the sort, and all of it is shuffled and mostly spilled.

## What to do
Leave the sort out where nothing after it needs the order, limit it to the rows that are looked at, or sort within
partitions only.

## When to ignore it
When one ordered result is what is asked for: then ranges of keys are the right way to sort it on many machines.
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


TOLD_GLOBAL_SORT: Final = Signature(
    name="told-global-sort",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"order ?by|\b(global |total )?sort(s|ed|ing|By)?\b(\(| the| by| all| whole| a| of|$)",
            SLOW + r"|spill|memory|oom|expensive|skew",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_GLOBAL_SORT.name)
    if rows:
        yield answer(
            rows,
            title="orderBy sorts all rows globally: a sample, a shuffle and a sort with spill",
            summary="A global sort first reads its input once to find the ranges of keys, then shuffles all "
            "of it. A reader of files rarely needs the order of the whole; one of groups or of each "
            "file is cheaper.",
            advice=(
                Advice(
                    "code",
                    "Leave out orderBy before a write, a join or another shuffle, where the order is lost"
                    " anyway; orderBy(...).limit(n) keeps n rows of each partition only.",
                ),
                Advice(
                    "code",
                    "sortWithinPartitions after repartition(key), for files sorted inside; "
                    "repartitionByRange(n, key) where ranges are wanted; cache or write what an expensive"
                    " input computes, since the sample reads it too.",
                ),
            ),
            confirm="The event log tells what the sort's stages read, shuffled and spilled.",
        )


RULE = Rule(
    code="W38",
    name="told-global-sort",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_GLOBAL_SORT,),
)
