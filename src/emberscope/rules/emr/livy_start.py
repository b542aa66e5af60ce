"""A session of Livy did not start in time.

## What it means
The notebook waits a fixed time for its session (60 s in sparkmagic), and Livy waits a fixed time for YARN to show the
application. Both end the wait, not the application: most often it stood in the queue because no memory or cores were
free, else its start took long (jars that are copied to each node, packages that are fetched, a slow first container).

## What it costs
The session of the notebook; its application may start later all the same, and hold resources for nobody.

## What to do
See whether the application was waiting or starting: free capacity for the first, longer limits for the second.

## When to ignore it
When the next try works, and the cluster was being scaled up or had just been started at that moment.
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

NOT_STARTED: Final = "emr_session_not_started"
NO_APPLICATION: Final = "emr_livy_no_application"

_DEFAULT_WAIT_S: Final = 60


class Limits(Struct, frozen=True):
    """What EMR's guide proposes for Livy; the notebook's wait is made so many times longer (our proposal)."""

    lookup_seconds: int = 120
    session_hours: int = 2
    longer: int = 3


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = (*said(run, NOT_STARTED), *said(run, NO_APPLICATION))
    if not rows:
        return
    waits = [int(row.fields["seconds"]) for row in rows if row.fields.get("seconds")]
    wait_s = waits[0] if waits else _DEFAULT_WAIT_S
    session = next((row.fields["session"] for row in rows if row.fields.get("session")), None)
    within = f" within {wait_s} seconds" if waits else " in time"
    yield told(
        f"Livy session {session or ''}".rstrip() + f" did not start{within}",
        "The wait ended before YARN had started the session's application: either YARN had no free resources (memory "
        "or cores) in the queue and the application stayed ACCEPTED, or its start took longer than the timeout.",
        rows,
        (
            Advice(
                "check",
                "`yarn application -list -appStates ACCEPTED` and the queue's free memory: if the application waits "
                "there, end idle sessions (each holds its driver and executors), or ask for smaller ones.",
            ),
            Advice(
                "cluster",
                f"livy-conf: livy.server.yarn.app-lookup-timeout={max(limits.lookup_seconds, 2 * wait_s)}s, "
                f"livy.server.session.timeout-check=true, livy.server.session.timeout={limits.session_hours}h (ends "
                "idle sessions); then sudo systemctl restart livy-server.",
            ),
            Advice(
                "cluster",
                f"The notebook's own wait: livy_session_startup_timeout_seconds={limits.longer * wait_s} in "
                "~/.sparkmagic/config.json; restart the kernel.",
            ),
            Advice("check", "/var/log/livy/livy-livy-server.out has the session's start, step by step."),
        ),
        consequence="ended",
    )


RULE = Rule(
    code="L9",
    name="livy-start",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            NOT_STARTED,
            r"Session (?P<session>\d{1,9}) did not start up in (?P<seconds>\d{1,9}) seconds",
            (" did not start up in ",),
            (
                (
                    r"livy|sparkmagic|jupyter|notebook|kernel",
                    r"session",
                    r"(?:did not|didn't|not|never|fails? to|cannot) start|time[ds]? ?out|stuck|keeps? starting",
                ),
            ),
        ),
        Signature(
            NO_APPLICATION,
            r"No YARN application is found with tag (?P<tag>\S+) in (?P<seconds>\d{1,9}) seconds",
            ("No YARN application is found with tag",),
        ),
    ),
)
