"""An application that has ended stands as incomplete in the History Server.

## What it means
The event log is named .inprogress until SparkContext.stop() closes it. A driver that was killed, or a program that
never stops its session, leaves it so; in an object store nothing is seen before it is closed.

## What it costs
Nothing but the page of the application: the log holds all that was written until the driver went.

## What to do
Stop the session at the end, also after an error; roll event logs; read the log directly.

## When to ignore it
When the application still runs, as a stream or a notebook does: it is incomplete until it is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_INCOMPLETE_APPLICATION: Final = Signature(
    name="told-incomplete-application",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"incomplete|in-?progress|not (finish|complet)ed|still (running|shown|listed)",
            r"history|event ?log|spark ui|\bui\b",
            r"\b(finish|complet|ended|succe|done|although|even though|yesterday)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_INCOMPLETE_APPLICATION.name)
    if rows:
        yield answer(
            rows,
            title="The event log was never closed: it stays .inprogress, and the application incomplete",
            summary="The History Server takes an application for complete when its event log has an end, "
            "which SparkContext.stop() writes when it renames the .inprogress file. A killed driver "
            "(kill -9, exit of the container, System.exit in a hook) never does.",
            advice=(
                Advice(
                    "code",
                    "Call spark.stop() in a finally block (or close the session by `with`), and let the "
                    "driver end by itself; on Kubernetes give it a grace period.",
                ),
                set_conf(
                    "spark.eventLog.rolling.enabled",
                    "true",
                    "Parts are closed while it runs: object stores show them, and a killed driver loses "
                    "the last part alone.",
                ),
                Advice(
                    "code",
                    "See under 'Show incomplete applications'; "
                    "spark.history.fs.inProgressOptimization.enabled, and the cleaner, deal with what is "
                    "left.",
                ),
            ),
            confirm="`emberscope diagnose EVENTLOG` reads an unfinished log as far as it goes and says what "
            "killed the driver if a log tells.",
        )


RULE = Rule(
    code="W33",
    name="told-incomplete-application",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_INCOMPLETE_APPLICATION,),
)
