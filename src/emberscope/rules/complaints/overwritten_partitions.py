"""An overwrite deletes partitions that it does not write.

## What it means
mode('overwrite') replaces the whole table or path unless it is told to replace only the partitions that it has rows
of.

## What it costs
Data are lost, and without a table format that keeps versions there is nothing to bring them back from.

## What to do
Overwrite dynamically, by a condition, or append to a path of the partition's own.

## When to ignore it
When the whole table is to be replaced by what is written, as a full load does it on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_OVERWRITTEN_PARTITIONS: Final = Signature(
    name="told-overwritten-partitions",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"overwrit",
            r"delet|remov|lost|lose|wip(e|ed|ing)|all (the )?(other |old |existing )?(partitions|data)|"
            r"only (the|specific|some|certain|affected|those) partitions?|partitions? (are|is|were) gone|"
            r"keep",
        ),
        (
            r"partitionOverwriteMode|dynamic partition overwrite|overwrite (specific|only|a single|one|"
            r"certain) partition",
            r".",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_OVERWRITTEN_PARTITIONS.name)
    if rows:
        yield answer(
            rows,
            title="overwrite replaces the whole table unless partitions are overwritten dynamically",
            summary="A static overwrite (the default) first deletes everything below the path or all "
            "partitions that match the given ones; only the dynamic mode replaces just those "
            "partitions that the new rows belong to.",
            advice=(
                set_conf(
                    "spark.sql.sources.partitionOverwriteMode",
                    "dynamic",
                    "For file sources and Hive tables of Spark's own formats, with partitionBy or "
                    "insertInto; also as .option('partitionOverwriteMode', 'dynamic') of one write.",
                ),
                Advice(
                    "code",
                    "Delta: .option('replaceWhere', \"day = '2024-01-01'\"), or the dynamic mode (Delta "
                    "2.0); Iceberg: df.writeTo(t).overwritePartitions().",
                ),
                Advice(
                    "code",
                    "Never read and overwrite the same path in one job: write to another one, then swap.",
                ),
            ),
            confirm="The event log has the plan of the write with its mode and its partitions.",
        )


RULE = Rule(
    code="W46",
    name="told-overwritten-partitions",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_OVERWRITTEN_PARTITIONS,),
)
