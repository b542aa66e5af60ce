"""Much CPU time went into reading or writing dates as text.

## What it means
A date or timestamp that is text is taken apart by a pattern, with time zones and calendars, at about a microsecond
each. That adds up where billions of them are parsed, where the same column is parsed several times in one query, or
where dates are formatted only to be compared or grouped by.

## What it costs
An upper bound: the CPU time of parsing and printing, as if the values were dates already, taken off the tasks before
the schedule is replayed.

## What to do
Store dates as DATE and TIMESTAMP (Parquet, ORC), and parse once, where data come in, after filters. Do not format a
date to compare or group by it: use date_trunc, trunc, year, to_date. In your own code cut fixed forms by substring, or
keep a map from text to date, since few distinct days occur.

## When to ignore it
When the source delivers text, each value is parsed just once, and all of the parsed values are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import INHERENT, READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import DATES

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "parsing and printing dates", 0.5, "the task time of these stacks taken off, as if the work were free.", _advice
    )
    return findings(run, DATES.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Parse each text once, where data come in, and keep it as DATE or TIMESTAMP; {asker(spots)} does it here. To "
        "compare and group use date_trunc and to_date in place of formatted text.",
    )


RULE = Rule(code=DATES.code, name="dates-hot", since="0.1", reads=READS, limits=INHERENT, check=check)
