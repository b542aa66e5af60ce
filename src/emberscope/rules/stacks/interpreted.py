"""Expressions were evaluated one by one, without generated code.

## What it means
Spark compiles whole stages of a plan, and single expressions, into Java code. Where the code of an expression does not
compile or is too large, Spark walks the expression's tree for each row, with an object for each value: often several
times slower. Where the code of a whole stage is switched off or fails, the operators run one by one, mostly with
compiled expressions, but some parts of an aggregation are interpreted then.

## What it costs
An upper bound: the CPU time of the interpreted evaluation taken off the tasks before the schedule is replayed. The
generated code in its place is not free.

## What to do
Remove spark.sql.codegen.wholeStage=false, and spark.sql.codegen.factoryMode, which is meant for Spark's own tests.
Where nothing was set, look for "failed to compile" and "falling back to interpreter mode" in the logs of the driver and
the executors, and split very wide projections and long CASE WHEN chains into several steps.

## When to ignore it
When the plan holds expressions for which Spark generates no code, such as some functions of Hive or of your own; then
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
        "the evaluation taken off; generated code still takes a part of it.",
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
        yield Advice("unset", "It can switch code generation off, and is meant for Spark's own tests.", switched[1][0])
    yield Advice(
        "check",
        "Where no setting switched it off (the code may do so for its session), look for “failed to compile” in the "
        "logs of driver and executors, and split wide projections and long CASE WHEN chains.",
    )


RULE = Rule(
    code=INTERPRETED.code, name="interpreted-expressions", since="0.1", reads=READS, limits=Limits(), check=check
)
