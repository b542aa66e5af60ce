"""Tasks waited while Spark compiled generated code.

## What it means
Each executor compiles the code that Spark generates for a query, and keeps it in a cache of limited size. Very many
small queries, queries whose code differs only by a constant, or executors that come and go make it compile over and
over; the other tasks that need the same code wait for the first one.

## What it costs
An upper bound: CPU time and waits for locks of the compiler in tasks, taken off the tasks before the schedule is
replayed.

## What to do
Ask for many things in one query in place of thousands of small ones. Keep executors alive. Where very many different
queries run, enlarge the cache (spark.sql.codegen.cache.maxEntries, 100 by default; it has to be set when the
application starts). Very wide projections compile slowly: select what is needed.

## When to ignore it
When it is the first query of an application: some seconds at the start are usual.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule, set_conf
from emberscope.rules.settings import number_setting
from emberscope.rules.stacks.finding import READS, Limits, Words, findings
from emberscope.rules.stacks.patterns import CODE_COMPILATION

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "compiling generated code", 0.6, "compilation taken off, as where the code is in the executor's cache.", _advice
    )
    return findings(run, CODE_COMPILATION.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    entries = number_setting(run, "spark.sql.codegen.cache.maxEntries", 100)
    yield Advice("code", "Put many small queries that differ by a constant into one, with the constant as a column.")
    yield set_conf(
        "spark.sql.codegen.cache.maxEntries",
        round(4 * entries),
        "Keeps the compiled code of more queries in each executor; it is read when the JVM starts.",
    )


RULE = Rule(
    code=CODE_COMPILATION.code,
    name="code-compiled-in-tasks",
    since="0.1",
    reads=READS,
    limits=Limits(ratio=0.1),
    check=check,
)
