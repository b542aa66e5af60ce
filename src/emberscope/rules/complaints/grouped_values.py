"""All values of a key are brought together in memory.

## What it means
groupByKey, collect_list, collect_set, cogroup and applyInPandas keep every value of a key in one task's memory.

## What it costs
Memory for all values of the largest key in one task, and a shuffle of every row where sums would have sufficed.

## What to do
Reduce on the way to the shuffle: reduceByKey and aggregateByKey on RDDs, aggregate functions on DataFrames.

## When to ignore it
When keys are known to have few values each, or when the function really needs all values of a key at once.
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


TOLD_GROUPED_VALUES: Final = Signature(
    name="told-grouped-values",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"groupByKey|collect_(list|set)|\bcogroup|applyInPandas|group(ed)? ?map|"
            r"groupBy\(.{0,40}\)\.apply",
            SLOW + r"|memory|oom|heap|fail|crash|large|big|kill|reduceByKey|alternative",
        ),
        (
            r"reduceByKey",
            r"groupByKey|difference|better|vs",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_GROUPED_VALUES.name)
    if rows:
        yield answer(
            rows,
            title="All values of a key are collected in one task's memory: aggregate on the way instead",
            summary="groupByKey, collect_list and functions over whole groups shuffle every row and hold each"
            " key's values at once; the largest key decides over memory. Sums, counts, maxima and "
            "sketches combine before the shuffle and hold one value.",
            advice=(
                Advice(
                    "code",
                    "reduceByKey, aggregateByKey or combineByKey on RDDs; on DataFrames agg(sum, max_by, "
                    "count, percentile_approx, slice(sort_array(...))) instead of collect_list and a UDF.",
                ),
                Advice(
                    "code",
                    "Where whole groups are needed: smaller groups (a finer key, a bucket), large keys by"
                    " themselves; for applyInPandas the group must fit into spark.executor.memoryOverhead"
                    " or spark.executor.pyspark.memory.",
                ),
            ),
            confirm="The event log tells rows, memory and spill of the largest task.",
        )


RULE = Rule(
    code="W39",
    name="told-grouped-values",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_GROUPED_VALUES,),
)
