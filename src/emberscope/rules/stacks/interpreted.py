"""Expressions were evaluated one by one, not by generated code.

## What it means
Spark compiles expressions and whole stages of a plan into Java code. Where that was switched off, or where the
generated code did not compile or was too large, it walks the tree of the expression for each row, with an object for
each value: often ten times slower.

## What it costs
An upper bound: the CPU time of the interpreted evaluation taken off. The generated code in its place is not free.

## What to do
Take spark.sql.codegen.wholeStage=false and spark.sql.codegen.factoryMode=NO_CODEGEN out of the configuration. Where
nothing was set, look for "failed to compile" in the driver's and the executors' logs, and split very wide projections
and long CASE WHEN chains over several steps.

## When to ignore it
When the plan holds expressions that have no generated code, such as some functions of Hive or of your own; then
rewrite these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, findings
from emberscope.rules.stacks.patterns import INTERPRETED

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "evaluating expressions tree by tree, without generated code",
        0.7,
        "the evaluation taken off; generated code takes a part of it, often less than a tenth.",
        _advice,
    )
    return findings(run, INTERPRETED.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    switched = [
        (key, run.setting(key))
        for key in ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode", "spark.sql.codegen.fallback")
    ]
    if (switched[0][1] or "").lower() == "false":
        yield Advice("unset", "Whole-stage code generation was switched off.", switched[0][0])
    if (switched[1][1] or "").upper() == "NO_CODEGEN":
        yield Advice("unset", "Code generation was switched off for expressions.", switched[1][0])
    yield Advice(
        "check",
        "Where no setting switched it off (the code may do so for its session), look for “failed to compile” in the "
        "logs of driver and executors, and split wide projections and long CASE WHEN chains.",
    )


RULE = Rule(
    code=INTERPRETED.code, name="interpreted-expressions", since="0.1", reads=READS, limits=Limits(), check=check
)
