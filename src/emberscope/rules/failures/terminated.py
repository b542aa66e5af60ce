"""A process was told to end (SIGTERM, exit code 143) while there was work to do.

## What it means
143 is 128 + 15, SIGTERM: a request to end, which the process follows. Cluster managers send it to what they preempt,
decommission or shut down; YARN sends it to containers that pass a limit before it kills them; and it is sent to every
executor when its application ends or has no need of it, which is no fault. It is never the process's own doing.

## What it costs
An executor's tasks and what it held, where it was still needed; the application, where it was the driver.

## What to do
Find out who sent it: the cluster manager's log at that time (preemption by another queue, a node that was taken back, a
user who stopped the application, a pod that was deleted, a limit of time). A larger memory helps only where a memory
limit is named beside it.

## When to ignore it
When the application had ended, or when dynamic allocation let the executor go since it had nothing to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.container_limit import CONTAINER_LIMIT, is_echo
from emberscope.rules.failures.ending import Limits, failure, groups_of, is_question, named
from emberscope.rules.failures.killed_context import By, killed_by
from emberscope.rules.failures.room import is_driver
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TERMINATED: Final = Signature(
    name="terminated",
    pattern=r"(?P<code>(?:[Cc]ode|[Ss]tatus)\"?(?: is| was|:|=)?\s*\(?143)\b|RECEIVED SIGNAL (?P<signal>TERM|15)",
    literals=(
        "ode 143",
        "ode is 143",
        "ode was 143",
        "ode: 143",
        "ode (143",
        "ode=143",
        "tatus 143",
        "tatus: 143",
        "tatus=143",
        "RECEIVED SIGNAL TERM",
        "RECEIVED SIGNAL 15",
        "Exit Code: ",
        "exitCode",
    ),
    words=((r"\b143\b", r"exit|code|status|kill|container|executor|pod"), (r"sigterm|signal term|signal 15",)),
)
_OVER: Final = re.compile(
    r"Final app status: SUCCEEDED|Successfully stopped SparkContext|Driver commanded a shutdown|"
    r"Shutting down all executors|finishedSignal|Finished application|state: FINISHED"
)
_LOST: Final = re.compile(r"Lost executor|ExecutorLostFailure|Lost task|Container (?:marked as failed|from a bad node)")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    limited = said(run, CONTAINER_LIMIT.name)
    rows = [row for row in said(run, TERMINATED.name) if not any(is_echo(row, limit) for limit in limited)]
    ended_ms = _over_ms(run)
    before = [row for row in rows if ended_ms is None or row.time_ms is None or row.time_ms < ended_ms]
    drivers = [row for row in before if _is_drivers(row) and row.event_id not in _of_executors(run)]
    lost = [row for row in before if row not in drivers and (_LOST.search(row.text) or is_question(row) or _bare(row))]
    if drivers and not _is_over(run):
        yield _told(run, drivers, True)
    if lost:
        names = {row.executor_id for row in lost}
        yield _told(run, [*lost, *(r for r in before if r not in lost and r.executor_id in names - {None})], False)


def _is_drivers(row: Said) -> bool:
    """Whether the driver or the application master itself was told to end."""
    return is_driver(row) or (row.role in ("driver", "am") and "signal" in groups_of(row, TERMINATED))


@once
def _of_executors(run: Run) -> frozenset[int]:
    """What executors say of themselves, in whatever file it stands."""
    table = run.tables.get("log_events")
    if table is None:
        return frozenset()
    pairs = zip(table["event_id"].to_pylist(), table["logger"].to_pylist(), strict=True)
    return frozenset(event for event, logger in pairs if (logger or "").endswith("ExecutorBackend"))


def _bare(row: Said) -> bool:
    """Whether it is a bare line that somebody shows, of no log."""
    return row.level is None and "code" in groups_of(row, TERMINATED)


@once
def _is_over(run: Run) -> bool:
    return _over_ms(run) is not None or any(_OVER.search(text) for text in _texts(run))


@once
def _over_ms(run: Run) -> int | None:
    """When the application was done; None where no line says so."""
    if run.application.app_end_ms is not None:
        return run.application.app_end_ms
    table = run.tables.get("log_events")
    if table is None:
        return None
    pairs = zip(table["time_ms"].to_pylist(), table["text"].to_pylist(), strict=True)
    return min((time for time, text in pairs if time is not None and text and _OVER.search(text)), default=None)


def _texts(run: Run) -> list[str]:
    table = run.tables.get("log_events")
    return [text for text in table["text"].to_pylist() if text] if table is not None else []


_WHY: Final[dict[By, str]] = {
    "evicted": " The lines around tell of an eviction.",
    "node": " The lines around tell of a spot reclaim, preemption, decommission or lost node.",
    "user": " The lines around say that somebody stopped it.",
}


def _told(run: Run, rows: Sequence[Said], driver: bool) -> Finding:
    name = "The driver" if driver else named(rows) or "A container"
    verb = "were" if name.startswith("Executors") else "was"
    by = killed_by(run, rows)
    shown = any(row.level is None for row in rows)  # nobody shows a line that did no harm
    return failure(
        run,
        rows,
        title=f"{name} {verb} told to end (SIGTERM, exit code 143)",
        summary="143 is 128 + 15, SIGTERM: a request from outside, by the cluster manager (preemption, a limit, a node "
        "that is taken back), a user, or the end of the application itself; after that it means nothing."
        + (_WHY.get(by) or " Who sent it does not stand in these lines."),
        advice=(
            Advice(
                "check",
                "Look in the cluster manager's log at that time: preempted, decommissioned, stopped by a user or a "
                "time limit, or over a memory limit; and whether the application was already done.",
            ),
            Advice("cluster", "If it was preempted or its node reclaimed: another queue or priority, nodes that stay."),
        ),
        confidence=0.8 if by in _WHY else 0.5,
        consequence="ended" if driver or shown or followed(run, rows) == "ended" else "lost",
    )


RULE = Rule(
    code="K3",
    name="terminated",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TERMINATED,),
)
