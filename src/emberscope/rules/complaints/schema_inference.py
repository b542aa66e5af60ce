"""Reading a file takes a pass of its own to find out its columns.

## What it means
inferSchema of CSV and JSON reads all the data before the job; mergeSchema reads every footer.

## What it costs
The input is read and parsed twice, once for the types of its columns; on a large input that is half of the job.

## What to do
Give the schema with the read, from a file that is kept beside the code, or infer it once from a small sample of the
input.

## When to ignore it
With a few small files, or while exploring data whose columns nobody has written down yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_SCHEMA_INFERENCE: Final = Signature(
    name="told-schema-inference",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"infer_?schema|inferring (the )?schema|schema inference|merge_?schema|samplingRatio",
            r".",
        ),
        (
            r"\b(csv|json)\b",
            r"read twice|two jobs|extra job|job (is )?(triggered|started|runs?).{0,30}(read|load)|"
            r"before any action",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_SCHEMA_INFERENCE.name)
    if rows:
        yield answer(
            rows,
            title="The schema is inferred by a pass over the data: give it",
            summary="inferSchema (CSV) and every JSON read without a schema read all of the input once to "
            "find the types, as a job of its own; mergeSchema opens the footer of each Parquet file. "
            "What is inferred may also differ from day to day.",
            advice=(
                Advice(
                    "code",
                    "spark.read.schema('id long, ts timestamp, ...') with a fixed schema; or infer once "
                    "from a sample file and keep df.schema.json().",
                ),
                Advice(
                    "code",
                    "JSON and CSV: .option('samplingRatio', 0.01) where it must be inferred; "
                    "spark.sql.parquet.mergeSchema=false; convert to Parquet once and read that.",
                ),
            ),
            confirm="The event log tells the job that only reads.",
        )


RULE = Rule(
    code="W43",
    name="told-schema-inference",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SCHEMA_INFERENCE,),
)
