"""How to see which lines of code take the time.

## What it means
Spark's page shows stages, not functions. A sampling profiler in the driver, the executors and the Python workers
shows them.

## What it costs
Nothing by itself. Without an answer, though, effort goes into code that was never what the job waited for.

## What to do
Record the job once and look at its flame graph, by stage and by operator; for lines of Python functions use a
profiler of Python beside it.

## When to ignore it
When the event log already shows that tasks wait for the network, for disks or for each other: then no line of code is
to blame.
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


TOLD_SLOW_LINES: Final = Signature(
    name="told-slow-lines",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"(which|what|where|find|see|know|identify|profil|measure|flame).{0,50}\b(line|function|"
            r"method|part of (the|my) code|code|udf|hot ?spots?|bottleneck)",
            r"\bhow\b|which|\btool|flame|want to|\?",
            r"executor|driver|pyspark|spark|worker|udf|job",
        ),
        (
            r"\bprofil(e|er|ing)\b",
            r"how (to|do|can)|which tool|best way|recommend|possible",
        ),
        (
            r"flame ?graph",
            r"how (to|do|can)|generate|create|get",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_SLOW_LINES.name)
    if rows:
        yield answer(
            rows,
            title="Record the job with a sampling profiler: flame graphs by stage, operator, task and executor",
            summary="Stages and tasks tell where time goes by operator only; a recording tells by method. "
            "`emberscope run` records driver and executors of any Spark from 3.0 without a change to "
            "the code, with at most a few percent of CPU.",
            advice=(
                Advice(
                    "code",
                    "emberscope run -- spark-submit ... ; then emberscope flame RUN --stage N -o "
                    "stage.html. With --engine async-profiler native and kernel frames come too.",
                ),
                Advice(
                    "code",
                    "Lines of Python functions: Spark 4: spark.sql.pyspark.udf.profiler=perf (or memory),"
                    " then `show()` of the session's `profile`. Spark 3: py-spy record --native --subprocesses on "
                    "a worker.",
                ),
                Advice(
                    "code",
                    "A cluster where `run` cannot start the job: paste what `emberscope conf` prints into"
                    " its settings.",
                ),
            ),
            confirm="Give the run's directory, a .jfr file or the event log to `emberscope diagnose`.",
        )


RULE = Rule(
    code="W32",
    name="told-slow-lines",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SLOW_LINES,),
)
