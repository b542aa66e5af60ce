"""Much of a stage's time went into matching regular expressions.

## What it means
The tasks spent their time in the matcher. A pattern with nested or overlapping repetitions, such as (a+)+ or .*x.*y,
tries very many ways to match before it gives up: the time for one row can grow with the square of its length or worse.
Such stacks are deep, with the same classes of java.util.regex over and over.

## What it costs
An upper bound: the CPU time of the matcher's stacks, as if matching were free, taken off the tasks before the schedule
is replayed. What remains after a change depends on the pattern.

## What to do
Rule rows out before the expression is tried (contains, startsWith, a filter on another column). Where a plain function
does, use it: split_part, substring_index, instr. Say what a repetition must not cross ([^,]* in place of .*) or let it
give nothing back (a++), anchor the pattern, and take nested repetitions apart.

## When to ignore it
When the matching is what the job is for, its pattern is simple already, and it runs on no more rows than it has to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import REGULAR_EXPRESSIONS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "matching regular expressions",
        0.5,
        "the task time of these stacks taken off, as if the work were free.",
        _advice,
    )
    return findings(run, REGULAR_EXPRESSIONS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Look at the pattern used by {asker(spots)}: no repetition inside of a repetition, [^,]* in place of .*, an "
        "anchor at the start; rule rows out by contains or startsWith before it.",
    )
    yield Advice(
        "code",
        "Where the text has a fixed form, cut it by split, substring_index or a parser in place of an expression.",
    )


RULE = Rule(
    code=REGULAR_EXPRESSIONS.code, name="regex-hot", since="0.1", reads=READS, limits=Limits(ratio=0.4), check=check
)
