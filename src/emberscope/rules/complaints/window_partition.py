"""A window function brings too many rows to one task.

## What it means
All rows of one window partition go to one task, which sorts them. Without partitionBy that is the whole table.

## What it costs
One task sorts and computes everything, spills to disk, and may run out of memory, while the other cores have nothing
to do.

## What to do
Partition the window by columns with many values, or compute ranks, running sums and latest rows without one: by
aggregates such as max_by, or in two steps.

## When to ignore it
When the table is small, or has been aggregated to a few thousand rows before: one task sorts those in no time.
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


TOLD_WINDOW: Final = Signature(
    name="told-window",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bwindow (function|spec|operation|partition)|row_number|\brank\(|dense_rank|\blag\(|"
            r"\blead\(|over ?\(|Window\.(orderBy|partitionBy)|running (sum|total)|cumulative",
            SLOW + r"|memory|oom|spill|single (partition|task)|one (partition|task|executor)|"
            r"no partition defined|without partition",
        ),
        (r"no partition defined for window",),
        (
            r"(add|generate|assign|create).{0,30}(sequential|unique|consecutive|row) (ids?|numbers?|"
            r"index)|zipWithIndex|monotonically_increasing_id",
            SLOW + r"|how|single|unique|consecutive",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_WINDOW.name)
    if rows:
        yield answer(
            rows,
            title="All rows of a window partition go to one task; without partitionBy that is the whole "
            "table in a single partition",
            summary="A window function shuffles by its partitionBy columns and sorts each partition in one "
            "task. Without these columns, or with one value that has most rows, a single task holds "
            "everything, whatever the number of executors.",
            advice=(
                Advice(
                    "code",
                    "Add Window.partitionBy(...) with columns that have many values; a hot value by "
                    "itself, or with a finer column (day, bucket) first.",
                ),
                Advice(
                    "code",
                    "Latest row of each key: groupBy(key).agg(max_by(struct('*'), ts)) needs no sort; top"
                    " N: filter with rank after a first cut by bucket. A number for each row: "
                    "monotonically_increasing_id(), or rdd.zipWithIndex() where they must be without "
                    "gaps.",
                ),
            ),
            confirm="The event log tells the rows of each task of the Window operator.",
        )


RULE = Rule(
    code="W26",
    name="told-window",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_WINDOW,),
)
