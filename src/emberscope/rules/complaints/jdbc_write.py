"""A write to a database over JDBC takes long.

## What it means
Each partition writes over one connection of its own, in batches of 1,000 rows, each an insert. One partition is one
connection; hundreds overrun the database.

## What it costs
The rows wait for round trips to the database while most cores are idle, and the transaction holds its locks for as
long.

## What to do
Write with as many partitions as the database bears, larger batches, and the driver's own rewriting of batches; bulk
load where the database has it.

## When to ignore it
When the database itself is the limit: then its locks, indexes and log are to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import DATABASES, SLOW, WRITES
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_JDBC_WRITE: Final = Signature(
    name="told-jdbc-write",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            DATABASES,
            WRITES,
            SLOW + r"|one connection|single connection|batch ?size|row by row|one by one|timeout|"
            r"too many connections",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_JDBC_WRITE.name)
    if rows:
        yield answer(
            rows,
            title="A JDBC write goes by one connection for each partition, 1,000 rows a batch",
            summary="The number of partitions at the write is the number of connections: one partition writes"
            " alone, hundreds overrun the database. Most drivers send a batch row by row unless they "
            "are told to rewrite it. Taken for granted: the write itself is slow, not what is "
            "computed in the same job.",
            advice=(
                Advice(
                    "code",
                    "repartition(8 to 32) right before the write (or the option numPartitions, which only"
                    " lowers it), and .option('batchsize', 10000).",
                ),
                Advice(
                    "code",
                    "In the URL: rewriteBatchedStatements=true (MySQL), reWriteBatchedInserts=true "
                    "(PostgreSQL), useBulkCopyForBatchInsert=true (SQL Server); isolationLevel=NONE where"
                    " a staging table is written.",
                ),
                Advice(
                    "code",
                    "Large loads: write files and load them with the database's own COPY or bulk loader "
                    "(the connectors of Redshift, Snowflake and SQL Server do), without indexes, then "
                    "merge from the staging table.",
                ),
            ),
            confirm="The event log tells how many tasks the write has and how long each takes.",
        )


RULE = Rule(
    code="W25",
    name="told-jdbc-write",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_JDBC_WRITE,),
)
