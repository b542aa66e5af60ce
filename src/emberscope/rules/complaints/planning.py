"""The driver plans and compiles for long, before any task runs.

## What it means
A plan is analysed, optimized and compiled on one core of the driver. Each withColumn in a loop adds a projection and
analyses all again; a plan that grows from one iteration to the next is planned whole each time; very many columns make
code too large to compile.

## What it costs
All executors wait for one core of the driver, as long as it plans; on a large cluster that is the dearest wait.

## What to do
One select in place of many withColumn, cut the plan with a checkpoint, and limit generated code.

## When to ignore it
When it is a few seconds of a long query; or once, at the first query of a session, while classes are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_PLANNING: Final = Signature(
    name="told-planning",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (r"with_?column", r"\bloop|many|hundred|thousand|\d{2,}|iterat|repeated", SLOW + r"|plan|cost"),
        (
            r"(quer(y|ies)|execution|logical|physical|catalyst)? ?plan(ning|s)?\b.{0,50}\b(construct|"
            r"build|time|slow|long|huge|"
            r"grow|overhead|minutes)|optimi[sz]er.{0,40}(slow|long|minutes|hang|stuck)",
            SLOW + r"|before|driver|cost",
        ),
        (r"(whole[- ]?stage )?code ?gen(eration)?\b", SLOW + r"|increases dramatically|compil"),
        (
            r"\bdriver\b.{0,60}\b(busy|100 ?%|single core|one core|bottleneck|stuck|hang)",
            r"\b(before|no (jobs?|tasks?|stages?)|idle|nothing|planning|between)\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_PLANNING.name)
    if not rows:
        return
    yield answer(
        rows,
        title="The driver plans and compiles the query on one core: a plan or generated code that is too large",
        summary="Analysis, optimization and codegen run on one core of the driver, and grow with "
        "columns, with withColumn in loops and "
        "with plans that are built upon one another.",
        advice=(
            Advice(
                "code",
                "Add columns in one select or withColumns, not withColumn in a loop; cut a plan that grows with "
                "checkpoint() or by writing and reading a table.",
            ),
            Advice(
                "code",
                "Very many columns: spark.sql.codegen.wholeStage=false, or spark.sql.codegen.maxFields and "
                "spark.sql.codegen.hugeMethodLimit=8000, for this query.",
            ),
        ),
        confirm="A recording of the driver tells its methods (analyzer, optimizer, Janino), an event log "
        "the gaps between jobs.",
    )


RULE = Rule(
    code="W16",
    name="told-planning",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_PLANNING,),
)
