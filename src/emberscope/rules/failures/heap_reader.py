"""A program that reads event logs ran out of heap, since it holds a whole log at once.

## What it means
Event logs grow to many gigabytes, and single lines of them to hundreds of megabytes. A tool that reads all lines before
it looks at the first, or keeps all that it parsed, needs a heap of several times the log. It is that tool which failed,
not the Spark application that wrote the log.

## What it costs
Nothing of the application. Its log is not analysed, often after many minutes in which the tool collected garbage.

## What to do
Read the log as a stream, line by line, and keep no more than the answer; `emberscope diagnose` does. Until then a
larger heap for the tool, logs of one application at a time, and rolled, compressed logs.

## When to ignore it
When the tool is run again with a heap that is large enough, and logs do not grow beyond what it was run with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, failure
from emberscope.rules.failures.heap import HEAP
from emberscope.rules.failures.heap_place import is_reader, place_of
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = [row for row in said(run, HEAP.name) if place_of(run, row) == "reader" and is_reader(row)]
    if rows:
        yield failure(
            run,
            rows,
            title="A tool that reads an event log ran out of heap: it holds the whole log in memory",
            summary="The program that analyses the event log failed, not the application that wrote it: logs have many "
            "gigabytes and very long lines, and a tool that loads all of them at once needs several times that as "
            "heap.",
            advice=(
                Advice("code", "Read the event log as a stream, line by line, and keep only what is counted."),
                set_conf("spark.eventLog.rolling.enabled", "true", "Rolled parts are smaller than one long log."),
                Advice("check", "Until then: a larger heap (-Xmx) for that tool, and one log at a time."),
            ),
            confidence=0.85,
            consequence="ended",
        )


RULE = Rule(
    code="K71",
    name="log-reader-heap",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
)
