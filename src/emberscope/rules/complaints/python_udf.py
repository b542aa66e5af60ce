"""A function in Python runs on every row: rows leave the JVM one by one and come back.

## What it means
Python code runs in a process beside the executor. Each row is pickled, sent, called for, pickled again and sent back,
and the optimizer can look into none of it: filters are not pushed through, and code is not compiled together.

## What it costs
Several times the time of the same expression in Spark's own functions, on every row.

## What to do
Use built-in functions of columns; where Python is needed, hand over whole columns with Arrow (a pandas UDF).

## When to ignore it
When the work inside the function is what takes long, such as a model that scores a row: only that work helps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_PYTHON_UDF: Final = Signature(
    name="told-python-udf",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (r"(python|py_?spark|pandas).{0,120}\budfs?\b|\budfs?\b.{0,120}(python|py_?spark|pandas)", SLOW),
        (r"\budfs?\b|user[- ]defined functions?", SLOW + r"|\d+x slower|runtime"),
        (r"(python|py_?spark)\b.{0,60}\b(function|lambda|rdd)s?\b", r"slower|overhead|seriali[sz]", r"scala|jvm|row"),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_PYTHON_UDF.name)
    if not rows:
        return
    yield answer(
        rows,
        title="A Python UDF is called row by row, with every row pickled to Python and back",
        summary="Rows leave the JVM for a Python process and come back one by one, and the optimizer "
        "cannot look into the function. "
        "Built-in functions avoid both; Arrow hands over whole columns.",
        advice=(
            Advice(
                "code", "Write it with built-in functions (pyspark.sql.functions: when, regexp_extract, transform)."
            ),
            Advice("code", "Where Python is needed, use a vectorized pandas UDF (@pandas_udf, mapInPandas)."),
            set_conf("spark.sql.execution.pythonUDF.arrow.enabled", "true", "Arrow for plain UDFs (Spark 3.5)."),
        ),
        confirm="A recording, or the plan of an event log (BatchEvalPython), tells the share of Python's time.",
    )


RULE = Rule(
    code="W11",
    name="told-python-udf",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_PYTHON_UDF,),
)
