"""The driver lost contact with an executor: no heartbeat for too long, or the connection broke.

## What it means
Each executor sends the driver a heartbeat every ten seconds (`spark.executor.heartbeatInterval`). One that is silent
for `spark.network.timeout` (120 s) is given up, though its process may still run: a JVM in a long garbage collection,
a frozen or overloaded machine, or a network that drops packets. "Remote RPC client disassociated" is the other way to
lose it: the connection broke, most often since the process ended, and the driver does not know why. In local mode the
executor is the driver's own JVM, so that a missing heartbeat means that this one JVM stood still.

## What it costs
The tasks that ran there run again elsewhere, and stages whose output it held are made again in part.

## What to do
Look at the executor's own log and garbage collection just before that time. A full heap: more heap or less per task. A
process that ended: the cluster manager knows its exit code. Raise the timeout only for pauses that are known and
accepted: it does not make them shorter.

## When to ignore it
When the application was ending anyway, or when one spot node went and the job went on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, failure, groups_of, is_question, named
from emberscope.rules.said import Said, said
from emberscope.rules.settings import is_local, memory_words, ms_setting
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_ms, parse_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

SILENT: Final = Signature(
    name="heartbeat-timeout",
    pattern=r"(?:Lost executor (?P<lost>\S{1,80})[^\n]{0,300}?|\(executor (?P<of>\S{1,80}) exited[^\n]{0,300}?)?"
    r"Executor heartbeat timed out after (?P<ms>\d+) ms|"
    r"Removing executor (?P<executor>\S+) with no recent heartbeats: (?P<gap>\d+) ms exceeds timeout (?P<limit>\d+) ms",
    literals=("Executor heartbeat timed out after", "with no recent heartbeats"),
    words=((r"heart-?beats?", r"time-?d? ?out|timeout|lost|miss|fail|no recent"),),
)
BROKEN: Final = Signature(
    name="executor-disassociated",
    pattern=r"(?:Lost executor (?P<lost>\S{1,80})[^\n]{0,300}?|\(executor (?P<of>\S{1,80}) exited[^\n]{0,300}?)?"
    r"(?:Remote RPC client disassociated|Remote Akka client disassociated|\b[Ss]lave lost\b|\b[Ww]orker lost\b)",
    literals=("client disassociated", "lave lost", "orker lost"),
    words=(
        (r"rpc client disassociated",),
        (r"\b(slave|worker) lost\b",),
        (
            r"executor ?lost ?failure|\bexecutors? ((are|is|was|were|got|get) )?(being )?lost\b|"
            r"\b(lost|los(e|es|ing)) executors?\b",
        ),
        (
            r"\bexecutors?\b( (all|just|randomly|suddenly|keeps?|are|is|gets?|process))* "
            r"(die[sd]?|dying|lost|disappear\w*)\b",
        ),
    ),
)
_REASON: Final = re.compile(
    r"exit|\b1(37|43)\b|memory|oom|evict|pre-?empt|heartbeat|\bnodes?\b|de-?commission|spot|disk|killed", re.IGNORECASE
)
_TIMEOUT: Final = "spark.network.timeout"
_LEAST_MS: Final = 300_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    silent = said(run, SILENT.name)
    if silent:
        yield _silent(run, silent)
    # In a question that names a reason, that reason's own rule answers.
    broken = tuple(row for row in said(run, BROKEN.name) if not (is_question(row) and _REASON.search(row.text)))
    if broken:
        yield _broken(run, broken)


def _silent(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = [groups_of(row, SILENT) for row in rows]
    names = list(dict.fromkeys(n for one in found if (n := one.get("lost") or one.get("of") or one.get("executor"))))
    gaps = [int(gap) for one in found if (gap := one.get("ms") or one.get("gap"))]
    is_one_jvm = "driver" in names or is_local(run)
    name = "the local executor" if is_one_jvm else _named(names, rows)
    for_so_long = f" for {format_ms(max(gaps))}" if gaps else ""
    if is_one_jvm:
        summary = (
            "In local mode driver and executor are one JVM: it stood still, most often in garbage collection of a full "
            "heap, so the timeout is a consequence. spark.executor.memory has no effect there; the heap is "
            "spark.driver.memory (-Xmx)."
        )
    else:
        summary = (
            f"An executor that is silent for {_TIMEOUT} is given up: its JVM stood in long garbage collections, its "
            "machine was frozen or overloaded, or the network failed. These lines cannot tell which; the executor's "
            "own log can."
        )
    return failure(
        run,
        rows,
        title=f"The driver heard no heartbeat of {name}{for_so_long} and gave it up",
        summary=summary,
        advice=_silent_advice(run, max(gaps, default=0), is_one_jvm=is_one_jvm),
        confidence=0.85,
    )


def _silent_advice(run: Run, gap_ms: int, *, is_one_jvm: bool) -> Iterator[Advice]:
    if is_one_jvm:
        heap = run.setting("spark.driver.memory")
        if heap is not None:
            yield set_conf("spark.driver.memory", memory_words(2 * parse_bytes(heap)), f"Twice the {heap} of now.")
        else:
            yield Advice("cluster", "Raise spark.driver.memory where it is started (--driver-memory), from 1g to 4g.")
        yield Advice("code", "Or hold less in one task: more partitions, fewer rows at a time, no collect of all.")
        return
    yield Advice(
        "check",
        "Look at the executor's log and GC times before that moment: OutOfMemoryError and long pauses mean heap, no "
        "pause at all means machine or network (load, steal, dropped packets).",
    )
    now = ms_setting(run, _TIMEOUT, "120s", unit="s")
    value = math.ceil(max(_LEAST_MS, 2 * gap_ms) / 60_000) * 60
    if value * 1000 > now:
        yield set_conf(
            _TIMEOUT,
            f"{value}s",
            "Only for pauses that are known and accepted; spark.executor.heartbeatInterval stays far below it.",
        )


def _broken(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = [groups_of(row, BROKEN) for row in rows]
    names = list(dict.fromkeys(n for one in found if (n := one.get("lost") or one.get("of"))))
    return failure(
        run,
        rows,
        title=f"The connection to {_named(names, rows)} broke, and the driver does not know why",
        summary="The process ended or was cut off without a word to the driver: killed by the cluster manager or the "
        "kernel, crashed, or gone with its node. It cannot be told from this line alone; the executor's container log "
        "and the cluster manager's diagnostics have the exit code.",
        advice=(
            Advice(
                "check",
                "Read the end of that executor's stderr (OutOfMemoryError, a signal, hs_err) and the cluster manager's "
                "diagnostics for its container: `yarn logs -containerId …`, `kubectl describe pod …`.",
            ),
            Advice(
                "check",
                "No exit code and a node that is gone: lost node or spot reclaim. Exit code 137 or “memory limits”: "
                "memory of the container. 143: it was told to end.",
            ),
        ),
        confidence=0.6,
    )


def _named(names: list[str], rows: tuple[Said, ...]) -> str:
    if names:
        return (
            f"executor{'' if len(names) == 1 else 's'} {', '.join(names[:4])}{' and others' if len(names) > 4 else ''}"
        )
    name = named(rows)
    return f"{name[0].lower()}{name[1:]}" if name else "an executor"


RULE = Rule(
    code="K12",
    name="lost-contact",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(SILENT, BROKEN),
)
