"""Tasks spent much of their time on writing log lines.

## What it means
A line for each row is formatted, written and flushed, and all tasks of an executor take turns at the same file: they
wait for each other at the lock around the appender. The file also fills the disk of the node.

## What it costs
An upper bound: CPU time, time in native code (writing) and waits for locks inside of the logging library, taken off the
tasks before the schedule is replayed.

## What to do
Log once for each partition, or the first few rows, or counts. Raise the level of the logger in log4j2.properties
(log4j.properties before Spark 3.3). Hand the logger the arguments ({} placeholders) in place of a finished text, so
that lines below the level cost nothing.

## When to ignore it
When the log was made so long on purpose, to find a fault in one run; set it back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import LOGGING

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words("writing log lines", 0.85, "logging taken off, as where the level rules these lines out.", _advice)
    return findings(run, LOGGING.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Take the log line out of the loop over rows: {asker(spots)} writes it. Count instead (an accumulator) and "
        "log once for each partition.",
    )
    yield Advice(
        "check",
        "Or raise the level of that logger in log4j2.properties (logger.NAME.level = error; before Spark 3.3 in "
        "log4j.properties).",
    )


RULE = Rule(code=LOGGING.code, name="logging-hot", since="0.1", reads=READS, limits=Limits(), check=check)
