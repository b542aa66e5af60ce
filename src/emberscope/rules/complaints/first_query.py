"""The first query takes far longer than the same one later.

## What it means
A fresh application starts executors, loads classes, compiles generated code, lists files and reads footers; later
queries find all this done.

## What it costs
Some seconds to a minute at the start of each application, which counts where many short applications run one after
the other.

## What to do
Keep a session for many queries; start executors early; keep file lists in a catalog.

## When to ignore it
When the application runs for hours: what is paid once at its start is then lost in the rest.
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


TOLD_FIRST_QUERY: Final = Signature(
    name="told-first-query",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\b(first|1st|initial)\b.{0,30}\b(quer(y|ies)|run|time|execution|job|call|action|stage)\b",
            r"\b(second|next|later|subsequent|following|afterwards|again|same|then)\b",
            SLOW + r"|fast|quick|sec",
        ),
        (
            r"cold ?start|warm.?up|start-?up (time|latency)",
            r"spark|quer|job|session|" + SLOW,
        ),
        (
            r"spark (session|context|job|submit|application)s?.{0,40}(takes?|needs?).{0,20}(seconds|"
            r"minutes|long).{0,30}(start|launch|initiali)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_FIRST_QUERY.name)
    if rows:
        yield answer(
            rows,
            title="The first query pays for the warm-up: executors, classes, generated code, file lists",
            summary="The first query of an application starts executors, loads and compiles code (JIT and "
            "generated), asks the metastore and lists files; the next ones reuse all of it, and what "
            "lies in the cache of files. It is not the query that became faster.",
            advice=(
                Advice(
                    "code",
                    "Reuse a session for many queries (Spark Connect, Thrift Server, Livy, a long-running"
                    " application) instead of an application for each; run a small query first where "
                    "latency counts.",
                ),
                set_conf(
                    "spark.dynamicAllocation.minExecutors",
                    "2",
                    "Executors that are there already; or initialExecutors. spark.yarn.archive and a "
                    "prebuilt image spare the upload of jars.",
                ),
                Advice(
                    "code",
                    "Tables in a catalog rather than globs of paths; fewer, larger files; measure the second run.",
                ),
            ),
            confirm="The event log tells when executors came and how long the first tasks deserialized; a "
            "recording tells compilation.",
        )


RULE = Rule(
    code="W28",
    name="told-first-query",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_FIRST_QUERY,),
)
