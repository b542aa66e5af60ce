"""A loop in the driver runs many small jobs, one after the other.

## What it means
Each action waits for its last task; a loop over tables, days or customers leaves most cores idle, and each round pays
for planning and scheduling.

## What it costs
The rounds add up, on a cluster that is idle for most of each: at its end, in its commit, and while the next is
planned.

## What to do
Make one job of it: a column instead of a loop; or run rounds side by side in threads.

## When to ignore it
When each round fills all cores by itself for minutes: then running rounds side by side makes none of them earlier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_JOB_LOOP: Final = Signature(
    name="told-job-loop",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\b(for|while|foreach|each)\b.{0,12}\b(loop|iteration|iterat)|\bloop(s|ing)?\b|"
            r"for each (table|file|day|date|customer|column|partition|id|row)|iterat(e|ing) (over|"
            r"through)|(hundreds|thousands|many) of (small )?(jobs|queries|actions)",
            SLOW + r"|sequential|one (by|after)|parallel|driver|hours",
            r"job|quer|write|count|collect|table|file|action|data ?frame|\bdf\b|filter",
        ),
        (
            r"\b(run|execut\w+|process)\b.{0,40}\b(jobs|queries|tables|actions|"
            r"writes)\b.{0,40}\b(in parallel|concurrently|at the same time|simultaneously)",
            r"how|can|possible|want|spark",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_JOB_LOOP.name)
    if rows:
        yield answer(
            rows,
            title="A loop in the driver runs one small job after the other: make one job of it, or run them"
            " side by side",
            summary="Each action in a loop waits for the slowest task of the one before, and each pays for "
            "planning, scheduling and its commit; the cluster is idle in between. collect() and then "
            "a loop over rows does the work on the driver alone.",
            advice=(
                Advice(
                    "code",
                    "One job instead of a loop: keep the loop's value as a column and groupBy, join or "
                    "write partitionBy it; read all paths in one read (spark.read.parquet(*paths)).",
                ),
                Advice(
                    "code",
                    "Where rounds are really independent: submit them from a thread pool "
                    "(ThreadPoolExecutor(8) in Python, Futures in Scala), with FAIR pools: "
                    "sc.setLocalProperty('spark.scheduler.pool', name).",
                ),
                set_conf(
                    "spark.scheduler.mode",
                    "FAIR",
                    "So that jobs which run side by side share the cores.",
                ),
            ),
            confirm="The event log tells the jobs, the gaps between them and how busy the cores were.",
        )


RULE = Rule(
    code="W35",
    name="told-job-loop",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_JOB_LOOP,),
)
