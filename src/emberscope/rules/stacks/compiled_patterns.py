"""Regular expressions were compiled again and again, for each row.

## What it means
Before a regular expression can be used it is compiled into a program. That is worth it once, not once for each row.
Methods such as String.replaceAll, String.matches and String.split do it in every call; so does Pattern.compile inside
of a function that runs for each row, and a query whose pattern comes out of a column.

## What it costs
The CPU time of the stacks in Pattern.compile, by their share of the stage's samples, taken off each task of the stage
and replayed.

## What to do
Keep the compiled pattern in a constant (private static final Pattern in Java, a val in an object in Scala, re.compile
at module level in Python) and call its matcher. In a query give the pattern as a literal, not as a column.

## When to ignore it
When patterns really differ from row to row, so that none is used twice; then think of another way to match.
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
        "Pattern.compile(…)` (a val of an object in Scala) and use `P.matcher(text)`; String.replaceAll, matches and "
        "split compile in each call.",
    )


RULE = Rule(
    code=COMPILED_PATTERNS.code, name="regex-compiled-per-row", since="0.1", reads=READS, limits=Limits(), check=check
)
