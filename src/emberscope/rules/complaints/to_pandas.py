"""`toPandas` brings all rows to the driver: it is slow, and fills the memory of the driver.

## What it means
A pandas frame lies in one process. Without Arrow every row is pickled by the JVM and unpickled by Python, one by one;
with Arrow whole columns are handed over. Either way the rows are on the driver at least twice, in the JVM's heap and
in Python's memory, which Spark does not count.

## What it costs
One core's time for all rows while the executors wait, and memory of the driver for all of them, twice over.

## What to do
Bring less: select, filter and aggregate in Spark first. Switch Arrow on, and give the driver heap and memory overhead.

## When to ignore it
When the frame is small: toPandas runs the query, and the query itself is then what takes long, not its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_TO_PANDAS: Final = Signature(
    name="told-to-pandas",
    pattern=r"(?P<said>toPandas\b[^\n]{0,80}\b(?:slow|takes (?:too )?long|hangs))",
    literals=("toPandas",),
    words=((r"to_?pandas", r"slow|long|memory|leak|crash|hang|stuck|die[sd]?\b|driver|kernel|\boom\b|timed? ?out"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = tuple(row for row in said(run, TOLD_TO_PANDAS.name) if row.level is None)
    if not rows:
        return
    yield answer(
        rows,
        title="toPandas brings all rows to the driver: without Arrow row by row, and twice in its memory",
        summary="A pandas frame lies in one process, the driver's Python, and its rows pass through the driver's JVM "
        "before. What the query finds must fit there, beside what Spark counts.",
        advice=(
            set_conf(
                "spark.sql.execution.arrow.pyspark.enabled",
                "true",
                "Hands over columns, not pickled rows: much faster.",
            ),
            Advice("code", "Bring less: select, filter and aggregate in Spark, or write a file and read that."),
            Advice(
                "cluster",
                "Raise spark.driver.memory for the JVM's copy (and spark.driver.maxResultSize), and leave as much of "
                "the machine, or of spark.driver.memoryOverhead, for Python's.",
            ),
        ),
        confirm="Rows and bytes of the result (df.count(), an event log of the run) tell how much it is.",
        confidence=0.7,
    )


RULE = Rule(
    code="W9",
    name="told-to-pandas",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_TO_PANDAS,),
)
