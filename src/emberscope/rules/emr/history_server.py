"""The history server, or another reader of event logs, has too little memory for them.

## What it means
The history server has 1 GiB of heap unless `SPARK_DAEMON_MEMORY` says otherwise, and builds the whole of an application
in it before it shows a page. Event logs of gigabytes, or many of them, are more than that: it stops with an
OutOfMemoryError, answers with status 500, or does not open. Other tools that hold a whole log in memory end the same
way.

## What it costs
No run is lost, but nobody can look into runs, neither those that ended nor those that are in trouble now.

## What to do
Give it more heap and let it keep applications on disk; let long applications write rolling event logs. What has to be
read at once can be read by a tool that goes through the log line by line, as `emberscope diagnose` does.

## When to ignore it
When the heap is large enough and only the connection is missing: a closed port 18080 is no question of memory.
"""

from __future__ import annotations

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

HISTORY_MEMORY: Final = "emr_history_memory"
READER_MEMORY: Final = "emr_log_reader_memory"


class Limits(Struct, frozen=True):
    """What the EMR guide proposes for the server's heap."""

    heap_gib: int = 4


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, HISTORY_MEMORY)
    if rows:
        yield _of_server(rows, limits.heap_gib)
    readers = said(run, READER_MEMORY)
    if readers:
        yield _of_reader(readers)


def _of_server(rows: tuple[Said, ...], heap_gib: int) -> Finding:
    return told(
        "The Spark history server has too little memory for its event logs (SPARK_DAEMON_MEMORY)",
        "It replays a whole event log into its heap, which is 1g unless SPARK_DAEMON_MEMORY is set: with large event "
        "logs it runs out of memory, answers with status 500 or does not open.",
        rows,
        (
            Advice(
                "cluster",
                f"Set SPARK_DAEMON_MEMORY={heap_gib}g (EMR: classification spark-env, or "
                "/etc/spark/conf/spark-env.sh on "
                "the primary node), then sudo systemctl restart spark-history-server.",
            ),
            set_conf(
                "spark.eventLog.rolling.enabled", "true", "Long applications write event logs in parts (Spark 3)."
            ),
            set_conf(
                "spark.history.fs.eventLog.rolling.maxFilesToRetain",
                "5",
                "The server compacts older parts: finished jobs' events are dropped for good.",
            ),
            set_conf("spark.history.store.hybridStore.enabled", "true", "Keeps applications on disk (Spark 3.1)."),
            Advice("check", "Clusters with several primary nodes have no persistent application UI on EMR."),
        ),
        consequence="blind",
    )


def _of_reader(rows: tuple[Said, ...]) -> Finding:
    file = rows[0].fields.get("file")
    return told(
        f"A tool ran out of memory while it read the event log {file or ''}".rstrip(),
        "It holds a whole event log in its heap. Single lines can be very long too (plans, accumulators), so memory "
        "must not grow with the log: a reader has to stream it line by line.",
        rows,
        (
            Advice("code", "Read the log with a tool that streams: `emberscope diagnose` has flat memory."),
            Advice("cluster", "Or give that tool more heap, several times the size of the unpacked log."),
            set_conf("spark.eventLog.rolling.enabled", "true", "And let the application write its log in parts."),
        ),
        consequence="blind",
    )


RULE = Rule(
    code="L4",
    name="history-server-memory",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            HISTORY_MEMORY,
            r"OutOfMemoryError[\s\S]*?(?:deploy\.history\.|FsHistoryProvider|ReplayListenerBus)"
            r"|(?:HistoryServer|FsHistoryProvider|ReplayListenerBus)[\s\S]*?OutOfMemoryError",
            ("OutOfMemoryError",),
            (
                (
                    r"history[- ]?server|\bSHS\b",
                    r"out ?of ?memory|\bOOM\b|\bheap\b|memory|(?:not|n't|fails? to) (?:open|load|start|come)|dies|crash"
                    r"|slow|blank|\b500\b",
                ),
                (r"SPARK_DAEMON_MEMORY",),
            ),
        ),
        Signature(
            READER_MEMORY,
            r"OOM error while processing large file:? (?P<file>\S+?)[.,]?\s*Increase heap size",
            ("OOM error while processing large file",),
            (
                (
                    r"out ?of ?memory|\bOOM\b|\bheap\b",
                    r"event ?logs?",
                    r"profiling tool|qualification tool|analy[sz]er|parser",
                ),
            ),
        ),
    ),
)
