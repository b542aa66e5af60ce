"""One task writes all rows of a table's partition while other cores are idle.

## What it means
A table format or a repartition by the partition column sends all rows of one partition of the table to one task, so
that it gets few files. Where most rows belong to one partition, one task writes most of the data. Iceberg does so with
its default `write.distribution-mode` of hash (since 1.2), `repartition(column)` and a `REBALANCE` hint by column do
too.

## What it costs
The write takes as long as one core takes for all of it, while every other core of the application is idle.

## What to do
For Iceberg set `write.distribution-mode` to none (or range) for that write, or let adaptive execution split what is
rebalanced. For others add a second column or a random number to the repartition.

## When to ignore it
When the partition is small, or when one file of it is what readers want and the time does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, sizes
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_SINGLE_WRITER: Final = Signature(
    name="told-single-writer",
    pattern=r"(?P<said>write\.distribution-mode)",
    literals=("write.distribution-mode",),
    words=(
        (
            r"\b(insert|writ(e|es|ing|ten)|merge|overwrite|ctas|save)\b",
            r"\b(single|one|1|only one)\b (\w+ )?(task|writer|executor|core)\b",
        ),
        (r"distribution-mode",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, TOLD_SINGLE_WRITER.name)
    # What one task has read is still in one partition when it is written: that is the read's trouble.
    if rows and not said(run, "told-jdbc-read"):
        yield _single(rows, limits)


def _single(rows: tuple[Said, ...], limits: Limits) -> Finding:
    text = rows[0].text
    named = sizes(text)
    pieces = -(-max(named) // limits.aim_bytes) if named else None
    iceberg = "iceberg" in text.lower()
    advice = [
        Advice(
            "code",
            "For this write set the table property or write option write.distribution-mode to none (or range): with "
            "hash, each partition of the table is one task's."
            if iceberg
            else "Repartition by the column and a random number (for Iceberg: write.distribution-mode none or "
            "range), or use a "
            "REBALANCE hint, whose partitions adaptive execution may split.",
        ),
        set_conf(
            "spark.sql.adaptive.optimizeSkewsInRebalancePartitions.enabled",
            "true",
            "With AQE, splits a partition that was rebalanced for the write and is too large (Spark 3.2 and later).",
        ),
    ]
    if pieces:
        advice.append(Advice("code", f"About {pieces:,} tasks would each write 128 MiB of it."))
    return answer(
        rows,
        title="One task writes the whole partition of the table: rows are distributed by partition before the write",
        summary="So that files are few, all rows of one partition of the table go to one write task; with one large "
        "partition the other cores have nothing to do. "
        + ("Iceberg's default write.distribution-mode is hash since 1.2." if iceberg else ""),
        advice=advice,
        confirm="The plan of the write (an Exchange by the partition column before it) or an event log confirms it.",
        confidence=0.7 if iceberg else 0.6,
    )


RULE = Rule(
    code="W4",
    name="told-single-writer",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SINGLE_WRITER,),
)
