"""A query reads whole tables where it needs a few partitions or rows.

## What it means
Filters reach files only where they are on the column itself with a value of the same type. A function, a cast or a
UDF around the column, or a filter that is only known from another table, reads everything.

## What it costs
All of the table is listed, read from the store and decoded, to throw most of the rows away right after.

## What to do
Filter on the partition column itself; see PartitionFilters and PushedFilters in explain().

## When to ignore it
When most of the table is needed anyway, or when it is so small that reading it all takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_PRUNING: Final = Signature(
    name="told-pruning",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"partition(ed|s)?\b|parquet|hive|table|delta|iceberg",
            r"(scan|read)(s|ing)? (all|every|the (whole|entire|full))|full (table )?scan|(not|n't|"
            r"no) (being )?(prun|push)|prun(e|ing)|push(ed)?.?down|PartitionFilters|reads? (everything|"
            r"all)",
            r"filter|where|condition|predicate|quer|select|prun|push",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_PRUNING.name)
    if rows:
        yield answer(
            rows,
            title="The filter does not reach the files: whole partitions are read instead of pruned",
            summary="Partitions are pruned and row groups skipped only by a filter on the partition or file "
            "column itself, compared with a literal of its own type. A function or cast around it "
            "(to_date(ts), substr, a UDF), a type that differs (string against int), or a value that "
            "comes from another table keeps Spark from it.",
            advice=(
                Advice(
                    "code",
                    "Filter by the partition column as it is stored: dt = '2024-01-01' beside the "
                    "condition on ts; move functions to the literal side; no UDF in it.",
                ),
                Advice(
                    "code",
                    "See explain('formatted'): PartitionFilters and PushedFilters must name the "
                    "condition, partitions read must be few. Joins prune where the other side is filtered"
                    " (spark.sql.optimizer.dynamicPartitionPruning.enabled=true).",
                ),
                Advice(
                    "code",
                    "Within files: sort or cluster by the filtered column (min/max of row groups), "
                    "Parquet or ORC instead of CSV and JSON; "
                    "spark.sql.hive.metastorePartitionPruning=true.",
                ),
            ),
            confirm="The event log has the plan with its filters, and the files and bytes that each scan read.",
        )


RULE = Rule(
    code="W31",
    name="told-pruning",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_PRUNING,),
)
