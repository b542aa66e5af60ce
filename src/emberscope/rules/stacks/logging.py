"""Tasks spent their time on writing log lines.

## What it means
A line for each row is formatted, written and flushed, and all tasks of an executor take turns at the same file: a
lock around the appender makes them wait for each other. The file also fills the disk of the node.

## What it costs
CPU time, time in native code (writing) and waits for locks inside of the logging library, taken off each task of the
stage and replayed.

## What to do
Log per partition, or the first few rows, or counts. Raise the level of the logger in log4j2.properties. Hand
arguments over to the logger in place of building the text ({} placeholders), so that lines which are ruled out cost
nothing.

## When to ignore it
When the log was made so long on purpose, for one run in which a fault is to be found; then take it back afterwards.
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
    yield Advice("check", "Or raise the level of that logger in log4j2.properties (logger.NAME.level = error).")


RULE = Rule(code=LOGGING.code, name="logging-hot", since="0.1", reads=READS, limits=Limits(), check=check)
