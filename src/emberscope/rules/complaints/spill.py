"""A shuffle moves much data, and what a task sorts does not fit in its memory: it spills.

## What it means
A task that sorts or aggregates more than its share of memory writes sorted runs to disk and merges them.

## What it costs
Writing and reading the data once more for each merge, on disks that shuffles of other tasks use as well.

## What to do
More, smaller partitions, so that each fits; more memory for a task; less to shuffle.

## When to ignore it
When the disks are fast, and the bytes that were spilled are few beside those that were shuffled.
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

TOLD_SPILL: Final = Signature(
    name="told-spill",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (r"\bspill(s|ed|ing)?\b", r"disk|memory|shuffle|slow|hours|gb|tb|sort"),
        (
            r"\bshuffl(e|es|ing)\b",
            SLOW + r"|\d+ ?[gt]b",
            r"group|join|sort|distinct|repartition|aggregat|\bread\b|\bwrite\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_SPILL.name)
    if not rows:
        return
    yield answer(
        rows,
        title="The shuffle spills: partitions are larger than a task's memory, or more is shuffled than need be",
        summary="What a task sorts or groups beyond its share of memory is spilled to disk and read "
        "again. Smaller shuffle partitions "
        "(100-200 MB each) fit.",
        advice=(
            Advice("code", "Raise spark.sql.shuffle.partitions to the shuffled bytes over 128 MiB (380 GB: 3040)."),
            Advice("cluster", "More memory for each task: spark.executor.memory up, or spark.executor.cores down."),
            Advice(
                "code", "Shuffle less: select and filter before, reduceByKey for groupByKey, broadcast the small side."
            ),
        ),
        confirm="An event log gives spilled bytes for each task and stage, and which number of partitions ends it.",
    )


RULE = Rule(
    code="W18",
    name="told-spill",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SPILL,),
)
