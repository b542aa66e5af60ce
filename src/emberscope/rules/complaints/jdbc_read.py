"""A table of a database is read over JDBC by one task.

## What it means
Spark asks a database one query for each partition, and how to part the table it must be told: a column with its lower
and upper bound and a number (all four together), or a list of conditions. The number alone changes nothing. Without
them one task reads all rows over one connection, and what follows stays in one partition until something shuffles it.

## What it costs
One core reads while all others wait; the rows of the whole table pass through one heap.

## What to do
Give `partitionColumn`, `lowerBound`, `upperBound` and `numPartitions`, or `predicates`; repartition after the read
where that cannot be. The query with `WHERE 1=0` that databases log only asks for the columns.

## When to ignore it
When the table is small, or when the database bears only one reader at a time and the time does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked, cores
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_SOURCE: Final = (
    r"\bjdbc\b|memsql|singlestore|oracle|postgres|mysql|sql ?server|mssql|clickhouse|teradata|db2|redshift|snowflake"
)
_ONE: Final = r"\b(one|single|1|same)\b (\w+ )?(task|partition|executor|core|connection|thread|query)\b"
TOLD_JDBC_READ: Final = Signature(
    name="told-jdbc-read",
    pattern=r"(?P<said>partitionColumn|lowerBound|upperBound)[\"']?\s*(?:=|,|is|must)",
    literals=("partitionColumn", "lowerBound", "upperBound"),
    words=(
        (_SOURCE, r"\bread|\bload|extract|import|\bfetch", _ONE),
        (_SOURCE, r"numPartitions|partitionColumn|fetch ?size", r"slow|long|not|no effect|hours|one|single"),
        (r"\bjdbc\b", r"\bread|\bload", r"slow|hours|takes (too )?long|forever"),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    # Spark's own words about these options are of a program error, which says it itself.
    rows = asked(run, TOLD_JDBC_READ.name)
    if not rows:
        return
    slots = cores(rows[0].text)
    number = f"{slots}" if slots else "as many as the database bears at one time"
    yield answer(
        rows,
        title="One task reads the whole table from the database: a read without bounds is a single partition",
        summary="A JDBC read (and most connectors made like it) is one query in one task, unless it is told how to "
        "part the table; numPartitions alone has no effect. The cores of the cluster then have nothing to do, and "
        "what follows stays in that one partition.",
        advice=(
            Advice(
                "code",
                f"Give the read partitionColumn (a number, date or timestamp), lowerBound, upperBound and "
                f"numPartitions ({number}), all four together, or a list of predicates; connectors of a database may "
                "have a parallel read of their own.",
            ),
            Advice("code", "A larger fetchsize (10000) saves round trips; repartition() after a read that stays one."),
        ),
        confirm="df.rdd.getNumPartitions() right after the read tells it; an event log gives the tasks of the scan.",
        confidence=0.75,
    )


RULE = Rule(
    code="W8",
    name="told-jdbc-read",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_JDBC_READ,),
)
