"""A tool that analyses event logs ran out of memory on a large one, because it holds the whole file.

## What it means
An event log grows with the number of tasks: a gigabyte for a few hundred thousand, more with accumulators, and single
lines may be megabytes long. A tool that reads it into memory as a whole, as text, as a list of lines or as a tree of
all events, needs several times its size, and fails with "Java heap space" or "GC overhead limit exceeded", however
often its heap is raised.

## What it costs
The analysis, and the time of waiting for it. Nothing is wrong with the application that wrote the log.

## What to do
Read it with something that streams: line by line, with nothing kept of an event that is done with. `emberscope diagnose
FILE` does, in memory that hardly grows with the log. To write smaller logs: rolling event logs, compression, and
`spark.eventLog.includeTaskMetricsAccumulators=false` where the version has it.

## When to ignore it
When the tool's heap was tiny and the log is small: then a larger heap is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """None: one such line is enough."""


_FULL: Final = Signature(
    "event_log_tool_full",
    r"OOM error while processing large file (?P<file>\S+)|OutOfMemoryError[^\n]*(?:\n[^\n]*){0,20}"
    r"(?:rapids\.tool\.|QualificationAppInfo|EventProcessorBase)",
    ("OOM error while processing", "rapids.tool.", "QualificationAppInfo", "EventProcessorBase"),
    (
        (
            r"\A(?![\s\S]*history ?server)",
            r"event ?logs?",
            r"out ?of ?memory|\bOOM\b|heap",
            r"profil(?:er|ing)|qualification|analy[sz]\w*|pars\w+|tools?\b",
            r"large|big|huge|\bGB\b|\d+ ?G\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _FULL.name)
    if not rows:
        return
    name = next((row.fields["file"].rstrip(".,") for row in rows if "file" in row.fields), None)
    yield trouble(
        "A tool ran out of memory on a large event log: it holds the whole file",
        "An event log of many tasks is larger than the heap of a tool that materialises all of its lines or events. It "
        "has to be streamed line by line, keeping nothing of an event that is done with; a larger heap only moves the "
        "limit. The application that wrote the log is not concerned.",
        rows,
        (
            Advice("check", f"Read it with `emberscope diagnose {name or 'FILE'}`, which streams it in flat memory."),
            set_conf("spark.eventLog.rolling.enabled", "true", "Parts of 128 MB that tools can read one by one."),
            Advice("check", "Or raise the tool's own heap (-Xmx) to several times the size of the log, once."),
        ),
        consequence="hint",
    )


RULE = Rule(
    code="P20",
    name="event-log-tool",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_FULL,),
)
