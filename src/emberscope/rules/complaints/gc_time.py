"""Garbage collection takes much of the tasks' time: too many objects for the heap.

## What it means
Tasks of one executor share its heap. Where what they hold at one time comes near its size, the collector runs again
and again and frees little each time; all tasks of the executor stand still meanwhile.

## What it costs
The collector's share of each task's time, and in the end heartbeats that come too late.

## What to do
Fewer tasks in one heap, or more heap; smaller partitions; less in the cache, and that serialized.

## When to ignore it
Below about a tenth of the tasks' time, where a cure would hardly be noticed; and where the disk is what tasks wait for.
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

TOLD_GC_TIME: Final = Signature(
    name="told-gc-time",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bgc\b.{0,40}\b(time|pauses?|loop|overhead|activity)\b|garbage[- ]collect\w*|\bfull gcs?\b",
            SLOW + r"|high|long|lot|\d+ ?%|most|spend|spent|too much|frequent|constant",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_GC_TIME.name)
    if not rows:
        return
    yield answer(
        rows,
        title="Garbage collection takes the tasks' time: the heap is small for what they hold at once",
        summary="Tasks of an executor share its heap; near its limit the collector (GC) runs again and "
        "again while they stand still. "
        "More heap for each task, or smaller partitions, ends that.",
        advice=(
            Advice(
                "cluster", "Fewer tasks in one heap: spark.executor.cores to 3-5, or spark.executor.memory up by half."
            ),
            Advice(
                "code",
                "Smaller partitions (spark.sql.shuffle.partitions doubled), and less in the cache: unpersist, or "
                "MEMORY_AND_DISK_SER.",
            ),
            Advice(
                "cluster", "spark.executor.extraJavaOptions=-XX:+UseG1GC (-XX:+UseParallelGC for throughput on Java 8)."
            ),
        ),
        confirm="An event log gives the GC time of each task, a GC log the heap that stays after each collection.",
    )


RULE = Rule(
    code="W12",
    name="told-gc-time",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_GC_TIME,),
)
