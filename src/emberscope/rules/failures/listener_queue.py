"""The driver dropped events: its listeners were too slow, so that what they keep is incomplete.

## What it means
Each group of listeners has a queue of its own on the driver. When one falls behind and its queue is full, further
events are thrown away. What then lacks something depends on the queue: eventLog is the event log itself, appStatus what
the UI shows, executorManagement what dynamic allocation decides by, streams and shared the listeners of queries and of
users.

## What it costs
Figures drawn from what was dropped are too low: tasks, stages and jobs look unfinished or never seen. Dynamic
allocation that lost events may keep executors that are idle, or wait for tasks that are gone.

## What to do
Give the queue more room, and the driver more cores and memory where its garbage collection is what stalls the
listeners. Fewer and larger tasks make fewer events. A slow listener of a user or of an agent belongs into its own
queue.

## When to ignore it
When a few events were lost of the queue of a listener whose output nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import number_setting
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import counted

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LISTENER_QUEUE: Final = Signature(
    name="listener-queue",
    pattern=r"Dropping event from queue (?P<queue>\w+)|"
    r"Dropped (?P<count>\d+) (?:events from (?P<name>\w+)|SparkListenerEvents)|"
    r"Dropping SparkListenerEvent because (?P<old>no remaining room)",
    literals=("Dropping event from queue", "Dropping SparkListenerEvent", "events from ", "SparkListenerEvents since"),
    words=(
        (r"(drop(s|ped|ping)?|lost) (spark ?listener ?)?events?",),
        (r"listener ?bus|event ?queue", r"drop|full|slow"),
    ),
)
_CAPACITY: Final = "spark.scheduler.listenerbus.eventqueue.capacity"
_DEFAULT_CAPACITY: Final = 10_000
_LACKS: Final = {
    "eventLog": "The event log lacks these events: figures drawn from it are too low, tasks or jobs look unfinished",
    "appStatus": "The UI lacks these events: jobs and stages look as if they still ran, and counts are too low",
    "executorManagement": "Dynamic allocation lacks these events: it may keep idle executors, or ask for too few",
    "streams": "Listeners of streaming queries lack these events: progress that they report is incomplete",
    "shared": "Listeners of the program and of its agents lack these events",
}


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for queue, rows in by(said(run, LISTENER_QUEUE.name), _queue):
        yield _dropped(run, queue, rows)


def _queue(row: Said) -> str:
    found = groups_of(row, LISTENER_QUEUE)
    return found.get("queue") or found.get("name") or ""


def _dropped(run: Run, queue: str, rows: list[Said]) -> Finding:
    # Spark says how many were dropped since the last such line, with the number of all in newer versions.
    counts = [int(found["count"]) for row in rows if "count" in (found := groups_of(row, LISTENER_QUEUE))]
    dropped = sum(counts)
    what = f"{counted(dropped, 'event')}" if dropped else "events"
    of = f" from the {queue} queue" if queue else ""
    return failure(
        run,
        rows,
        title=f"The driver dropped {what}{of}: a listener could not keep up",
        summary=f"{_LACKS.get(queue, 'What these events tell is incomplete: an event log or the UI may undercount')}. "
        "Tasks started faster than the listeners handled their events, and a queue that is full throws events away.",
        advice=_advice(run, queue, dropped),
        confidence=0.95,
        consequence="blind",
    )


def _advice(run: Run, queue: str, dropped: int) -> Iterator[Advice]:
    own = _CAPACITY.replace(".capacity", f".{queue}.capacity")
    version = run.application.version
    setting = own if queue and (version == (0, 0) or version >= (3, 0)) else _CAPACITY
    capacity = (
        number_setting(run, own, number_setting(run, _CAPACITY, _DEFAULT_CAPACITY)) if queue else _DEFAULT_CAPACITY
    )
    enough = max(3 * int(capacity), -(-(int(capacity) + dropped) // 10_000) * 10_000)
    yield set_conf(setting, min(enough, 1_000_000), "Each event takes some KB of the driver's heap while it waits.")
    yield Advice(
        "check",
        "Look whether the driver was short of CPU or in garbage collection then, and which listener (of an agent, of "
        "the program) is slow: AsyncEventQueue says how long each took.",
    )
    yield Advice("code", "Fewer, larger tasks make fewer events.")


RULE = Rule(
    code="K28",
    name="listener-queue",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(LISTENER_QUEUE,),
)
