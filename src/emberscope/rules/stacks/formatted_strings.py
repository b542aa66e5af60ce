"""Strings were put together by format for each row.

## What it means
String.format (f"…" in Scala, MessageFormat too) reads its pattern anew in each call, looks up the locale and boxes its
arguments: a microsecond or so for what a plain concatenation does in some tens of nanoseconds.

## What it costs
An upper bound: the CPU time of formatting taken off the tasks before the schedule is replayed. The concatenation in its
place is nearly free.

## What to do
Put texts together with +, StringBuilder or concat. In a query use concat_ws and lpad, and keep format_string for what
people read. Format at the end, on few rows.

## When to ignore it
When few rows are formatted, or when the text is what the job is for and concatenation cannot give it this form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import FORMATTED_STRINGS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "formatting strings", 0.8, "the task time of these stacks taken off, as if the work were free.", _advice
    )
    return findings(run, FORMATTED_STRINGS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"In {asker(spots)} put the text together with + or a StringBuilder in place of format (concat_ws and lpad in "
        'a query); s"…" in place of f"…" in Scala.',
    )


RULE = Rule(
    code=FORMATTED_STRINGS.code,
    name="strings-formatted-per-row",
    since="0.1",
    reads=READS,
    limits=Limits(),
    check=check,
)
