"""Counting distinct values takes long.

## What it means
An exact count of distinct values must bring every value together in a shuffle; several of them in one query multiply
each row once for each of them (the plan's Expand).

## What it costs
The shuffle and the memory of all distinct values, times the number of such counts.

## What to do
Take approx_count_distinct where an estimate will do, count in two steps, and each of several counts by itself.

## When to ignore it
When the exact number is asked for and the column has few values: then each task's hash table is small and the shuffle
brings little.
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


TOLD_DISTINCT_COUNT: Final = Signature(
    name="told-distinct-count",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"count.{0,4}distinct|distinct.{0,3}count|\bnunique\b|count_distinct|distinct (users?|values?|"
            r"ids?|keys?|rows?|customers?|visitors)",
            SLOW + r"|memory|oom|spill|billion|large|expand|approx",
        ),
        (
            r"\bdistinct\(\)|\.distinct\b|drop_?duplicates|de-?dup",
            SLOW + r"|shuffl|expensive|memory",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_DISTINCT_COUNT.name)
    if rows:
        yield answer(
            rows,
            title="An exact distinct count shuffles every value; several in one query multiply the rows (Expand)",
            summary="For count(distinct) all values of the column are shuffled and kept in hash tables. Each "
            "further distinct column in the same query copies every row once more before the shuffle."
            " distinct() and dropDuplicates() shuffle whole rows.",
            advice=(
                Advice(
                    "code",
                    "Where an error of 2 % will do: approx_count_distinct(column, 0.02) (HyperLogLog), in"
                    " one pass; sketches (hll_sketch_agg, Spark 3.5) can be kept and merged by day.",
                ),
                Advice(
                    "code",
                    "Exact: first groupBy(key, column) to leave each value once, then count; several "
                    "distinct columns in queries of their own, joined after. dropDuplicates([key]) on the"
                    " key alone, before wide columns are joined.",
                ),
                Advice(
                    "code",
                    "More shuffle partitions, one for 128 MiB, so that the hash tables of values do not spill.",
                ),
            ),
            confirm="The event log tells the rows before and after Expand, and the spill.",
        )


RULE = Rule(
    code="W24",
    name="told-distinct-count",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_DISTINCT_COUNT,),
)
