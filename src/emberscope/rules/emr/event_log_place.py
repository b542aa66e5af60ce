"""The place of the event logs is on another file system than the one that looks for them, or is not there.

## What it means
Spark writes event logs to `spark.eventLog.dir`; the history server reads `spark.history.fs.logDirectory`, and on EMR
the apppusher service carries them to the persistent history. `Wrong FS` says that one of them was given a path of
another file system than it works on: a path on S3 where HDFS is expected, or the other way round. A directory that is
not there ends an application while its SparkContext starts.

## What it costs
Applications run and leave no history to look into, or their SparkContext fails and they do not start at all.

## What to do
Give both settings the same directory, and restart the history server. In programs that meet `Wrong FS` themselves, ask
the path for its file system and not the configuration.

## When to ignore it
When the message comes from a tool that looks in several places one after the other, and the history is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

WRONG_FS: Final = "emr_wrong_fs"
NO_DIRECTORY: Final = "emr_no_event_log_directory"

_OF_LOGS: Final = re.compile(r"app-?pusher|event-?log|spark[/-]?(?:event|history)|/spark/(?:apps|logs)", re.IGNORECASE)


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = [row for row in said(run, WRONG_FS) if row.fields.get("found")]
    of_logs = [row for row in rows if _OF_LOGS.search(f"{row.file} {row.text}")]
    others = [row for row in rows if row not in of_logs]
    if of_logs:
        yield _of_event_logs(of_logs)
    if others:
        yield _of_program(others)
    missing = [row for row in said(run, NO_DIRECTORY) if row.fields.get("directory")]
    if missing:
        yield _missing(missing)


def _of_event_logs(rows: list[Said]) -> Finding:
    found, expected = rows[0].fields["found"], rows[0].fields["expected"]
    return told(
        f"Event logs are looked for on {expected}, but lie at {found}",
        "The service that carries event logs away works on another file system than the one that spark.eventLog.dir "
        "names (Wrong FS), so the Spark history stays empty. The log directory of the applications and "
        "spark.history.fs.logDirectory have to be the same.",
        rows,
        (
            set_conf("spark.eventLog.dir", found, "Where applications write; in /etc/spark/conf/spark-defaults.conf."),
            set_conf("spark.history.fs.logDirectory", found, "The same directory for the history server."),
            Advice("cluster", "Restart the history server: sudo systemctl restart spark-history-server."),
        ),
        consequence="blind",
    )


def _of_program(rows: list[Said]) -> Finding:
    found, expected = rows[0].fields["found"], rows[0].fields["expected"]
    return told(
        f"A path of {_scheme(found)} was given to a file system of {_scheme(expected)} (Wrong FS)",
        f"The program asked the default file system ({expected}) for {found}, which lies on another one.",
        rows,
        (
            Advice(
                "code",
                "Ask the path for its file system: path.getFileSystem(conf) or FileSystem.get(path.toUri, conf) in "
                "place of FileSystem.get(conf); or make fs.defaultFS the file system that is meant.",
            ),
        ),
        consequence="lost",
    )


def _missing(rows: list[Said]) -> Finding:
    place = rows[0].fields["directory"]
    return told(
        f"The directory of the event logs, {place}, is not there",
        "Spark does not make spark.eventLog.dir: where it is missing, the SparkContext fails while it starts.",
        rows,
        (
            Advice("cluster", f"Make {place} before the application starts, where all hosts that submit see it."),
            set_conf("spark.eventLog.enabled", "false", "Or start without an event log, and without a history."),
        ),
        consequence="ended",
        confidence=0.9,
    )


def _scheme(path: str) -> str:
    return path.partition(":")[0]


RULE = Rule(
    code="L3",
    name="event-log-place",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            WRONG_FS,
            r"Wrong FS:? (?P<found>[\w+-]+:/[^\s,]*)\s*,\s*expected:? (?P<expected>[\w+-]+:/[^\s,]*)",
            ("Wrong FS",),
            ((r"event ?log|history", r"not (?:pushed|in|on|uploaded)|missing", r"\bs3\b"),),
        ),
        Signature(
            NO_DIRECTORY,
            r"FileNotFoundException: (?:File |Log directory )?"
            r"(?P<directory>[\w+-]+:/[^\s,]*(?:spark-?events|spark-history|spark/apps)[^\s,]*) (?:does not exist"
            r"|is not)",
            ("spark-events", "sparkevents", "spark-history", "spark/apps"),
        ),
    ),
)
