"""Regular expressions were compiled again and again, for each row.

## What it means
Before a regular expression can be used it is compiled. That is worth doing once, not for each row. Methods such as
String.replaceAll and String.matches do it in every call, String.split too unless it splits at one plain character; so
does Pattern.compile inside of a function that runs for each row, and a query whose pattern comes from a column.

## What it costs
An upper bound: the CPU time of the stacks in Pattern.compile, by their share of the stage's samples, taken off the
tasks before the schedule is replayed.

## What to do
Keep the compiled pattern in a constant (private static final Pattern in Java, a val in an object in Scala) and call its
matcher. In a query give the pattern as a literal, not as a column.

## When to ignore it
When the pattern really differs from row to row, so that none is used twice; then look for another way to match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import COMPILED_PATTERNS

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "compiling regular expressions",
        0.9,
        "the compilation taken off, as where each expression is compiled once.",
        _advice,
    )
    return findings(run, COMPILED_PATTERNS.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Compile the pattern once, outside of {asker(spots)}: keep `private static final Pattern P = "
        "Pattern.compile(…)` (a val of an object in Scala) and use `P.matcher(text)`; String.replaceAll and matches "
        "compile in each call, and so does split unless it splits at one plain character.",
    )


RULE = Rule(
    code=COMPILED_PATTERNS.code, name="regex-compiled-per-row", since="0.1", reads=READS, limits=Limits(), check=check
)
