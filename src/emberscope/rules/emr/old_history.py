"""The history of an application whose cluster has ended is looked for in the wrong place.

## What it means
The history server of a cluster ends with it. From release 5.25 on EMR keeps event logs outside of the cluster and shows
them in a persistent application UI, for 30 days after the application's end. YARN and its timeline know only what still
runs or ran lately.

## What it costs
Nothing but the time of the search, as long as the thirty days are not over: after them the history is gone.

## What to do
Open the persistent UI from the console, or take the event log from the log bucket and read it here.

## When to ignore it
When the cluster still runs: then its own history server has the application, if event logs were switched on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NOT_KNOWN: Final = "emr_application_not_known"


class Limits(Struct, frozen=True):
    """How long EMR keeps the history of an application."""

    kept_days: int = 30


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, NOT_KNOWN)
    if not rows:
        return
    app = next((row.fields["app"] for row in rows if row.fields.get("app")), None)
    yield told(
        f"{app or 'The application'} is not known to the cluster's history any more",
        "The history server of a cluster ends with the cluster. EMR 5.25 and later keep a persistent application UI "
        f"(Spark History Server, YARN timeline) outside of it, for {limits.kept_days} days after the application ends.",
        rows,
        (
            Advice(
                "check",
                "EMR console: the terminated cluster, Application user interfaces (Applications), Persistent "
                "application UIs, Spark History Server; no SSH tunnel is needed.",
            ),
            Advice(
                "check",
                f"After {limits.kept_days} days only what was kept elsewhere is left: the event log in "
                "spark.eventLog.dir "
                "on S3 and the log bucket; `emberscope diagnose` reads it without a history server.",
            ),
        ),
        consequence=None,
        confidence=0.6,
    )


RULE = Rule(
    code="L7",
    name="old-history",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            NOT_KNOWN,
            r"[Aa]pplication with id ['\"]?(?P<app>application_\d+_\d+)['\"]? doesn't exist in",
            ("doesn't exist in RM", "doesn't exist in Timeline", "doesn't exist in AHS"),
            (
                (
                    r"history|spark ui|web ui|(?:user )?interface|persistent ui",
                    r"terminated|(?:old|ended|deleted|past) (?:emr )?cluster|cluster (?:is|was|has been) "
                    r"(?:terminated|gone|deleted|shut)|after the cluster|30 days",
                ),
            ),
        ),
    ),
)
