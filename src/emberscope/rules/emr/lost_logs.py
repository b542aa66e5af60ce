"""Logs of an application are gone or were never gathered.

## What it means
YARN gathers the logs of containers into one directory when an application ends, and deletes them after
`yarn.log-aggregation.retain-seconds`, on EMR two days. An application that runs longer, as a stream does, has nothing
there before its end unless logs are gathered while it runs; and one event log in one file grows until the disk is full.

## What it costs
What happened cannot be told any more; and a disk that fills up with logs ends containers, which costs work.

## What to do
Keep gathered logs longer, gather those of long applications while they run, and let Spark write its event log in parts.

## When to ignore it
When the application still runs, or ended a minute ago: logs are gathered after its end, and that takes its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.instance_state import FULL_DISK
from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LOGS_GONE: Final = "emr_logs_gone"


class Limits(Struct, frozen=True):
    """How long to keep logs: a week (our proposal); EMR keeps them for two days."""

    keep_seconds: int = 7 * 86_400


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, LOGS_GONE)
    if not rows:
        return
    disks = said(run, FULL_DISK)
    yield told(
        "The application's logs are not there any more, or were never gathered (log aggregation)",
        "YARN deletes aggregated logs after yarn.log-aggregation.retain-seconds (two days on EMR), and gathers those "
        "of a long-running application only at its end. A large event log in one file is kept incomplete too, and "
        "fills the disk.",
        rows,
        (
            set_conf("spark.eventLog.rolling.enabled", "true", "The event log in parts (Spark 3, EMR 6.1 and later)."),
            set_conf("spark.eventLog.rolling.maxFileSize", "128m", "The size of a part."),
            set_conf(
                "spark.history.fs.eventLog.rolling.maxFilesToRetain",
                "10",
                "Parts that are kept whole; older ones are compacted, and lose the events of finished jobs.",
            ),
            Advice(
                "cluster",
                f"yarn-site: yarn.log-aggregation.retain-seconds={limits.keep_seconds}, and "
                "yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds=3600, which gathers logs of running "
                "applications; on EMR the log bucket has copies under containers/.",
            ),
            Advice(
                "check", "Look at df -h of /mnt in the instance-state logs of that time: a full disk loses logs too."
            ),
        ),
        consequence="blind",
        confidence=0.7,
        more=tuple(row.evidence() for row in disks[:2]),
    )


RULE = Rule(
    code="L6",
    name="logs-gone",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            LOGS_GONE,
            r"(?P<directory>/\S*) does not have any log files"
            r"|Log aggregation has not completed or is not enabled"
            r"|Aggregation is not enabled\. Try the nodemanager at",
            ("does not have any log files", "Log aggregation has not completed", "Aggregation is not enabled. Try"),
            (
                (
                    r"\blogs?\b",
                    r"delet|missing|incomplete|disappear|\bgone\b|not available|truncated",
                    r"2 days|two days|48 ?h|stream|long[- ]running|aggregation|retention",
                ),
            ),
        ),
    ),
)
