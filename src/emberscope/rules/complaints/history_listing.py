"""The History Server does not show an application, or takes long to.

## What it means
It shows what lies in its own folder of event logs, once it has read it. Applications write there only with event logs
enabled, and into the folder that they name. Large logs and very many of them take long to read.

## What it costs
Nothing of the job: its history is what is missing, at the time when somebody asks why it was slow.

## What to do
Let both name the same folder, roll and compress logs, clean old ones, keep what was read on disk.

## When to ignore it
While the application runs: it is listed among the incomplete ones, and moves when its log is closed.
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

TOLD_HISTORY_LISTING: Final = Signature(
    name="told-history-listing",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"history ?server|\bSHS\b|event ?logs?\b",
            r"(not|n't|never|no|missing|empty|unable|without|cannot)\b.{0,60}\b(show|display|list|appear|"
            r"visible|see|collect|find|"
            r"found|load|log|event|application|job)|(missing|incomplete) app|slow|long time|takes (a |"
            r"too )?long|\bhang|memory|"
            r"stuck|\boom\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_HISTORY_LISTING.name)
    if not rows:
        return
    yield answer(
        rows,
        title="The History Server lists what lies in its folder: logs elsewhere, not enabled, or too "
        "many and too large",
        summary="Applications must write event logs (spark.eventLog.enabled) into the folder that "
        "spark.history.fs.logDirectory names; "
        "each is read whole before it is shown.",
        advice=(
            set_conf("spark.eventLog.enabled", "true", "Off by default."),
            Advice(
                "cluster",
                "spark.eventLog.dir of the applications = spark.history.fs.logDirectory of the server, readable "
                "by its user.",
            ),
            Advice(
                "cluster",
                "Slow: spark.history.store.path on a disk, spark.history.fs.numReplayThreads up, "
                "SPARK_DAEMON_MEMORY=8g, spark.history.fs.cleaner.enabled=true with cleaner.maxAge=7d.",
            ),
            Advice("cluster", "Long jobs: spark.eventLog.rolling.enabled=true and spark.eventLog.compress=true."),
        ),
        confirm="`emberscope diagnose EVENTLOG` reads a log by itself, complete or not, without a server.",
    )


RULE = Rule(
    code="W20",
    name="told-history-listing",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_HISTORY_LISTING,),
)
