"""The driver's heap filled up in its listeners or after many micro-batches: the state of the UI is kept in memory.

## What it means
The driver keeps what its UI shows of jobs, stages, tasks and SQL queries in its own heap, by default of 1,000 queries
with their plans, 1,000 stages and 100,000 tasks. An application that runs for days, such as a stream with a query per
batch, or one with very large plans, fills its heap with them, although each single job is small. The OutOfMemoryError
then comes in a thread of the listeners, or wherever the next object was made.

## What it costs
Garbage collection takes more and more of the driver's time, then the application ends.

## What to do
Keep less of the past for the UI: the event log has all of it. Give the driver more heap where single plans are large.

## When to ignore it
Where a dump of the heap shows that something else fills it: rows that were collected, a broadcast, the program's own
caches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import bytes_setting, memory_words, number_setting
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

UI_STATE: Final = Signature(
    name="ui-state",
    pattern=r"(?P<thread>spark-listener-group-\w{1,40})[\s\S]{0,400}?OutOfMemoryError|"
    r"OutOfMemoryError[\s\S]{0,200}?(?P<listener>spark-listener-group-\w+)|"
    r"OutOfMemoryError[\s\S]{0,1500}?(?P<frame>AppStatusListener|SQLAppStatusListener|ElementTrackingStore|"
    r"kvstore\.InMemoryStore|AppStatusStore|StreamingQueryStatusListener|AsyncEventQueue)|"
    r"(?P<stream>MicroBatchExecution|StreamExecution|StreamingQueryException|Query \S{1,100} "
    r"\[id)[\s\S]{0,600}?OutOfMemoryError",
    literals=("OutOfMemoryError",),
    words=(
        (
            r"driver",
            r"(heap|memory)[^.]{0,60}(grow|leak|fill|increas|climb)|oom|out ?of ?memory",
            r"stream|batch|days|ui\b",
        ),
        (r"spark ui|ui\.retained|retained(Jobs|Stages|Tasks|Executions)", r"memory|heap|oom|leak"),
    ),
)
# What the UI keeps by default, and what is plenty for a look at the last hour (our proposal).
_KEPT: Final = (
    ("spark.sql.ui.retainedExecutions", 1000, 100),
    ("spark.ui.retainedJobs", 1000, 200),
    ("spark.ui.retainedStages", 1000, 200),
    ("spark.ui.retainedTasks", 100_000, 10_000),
)
_PROGRESS: Final = ("spark.sql.streaming.numRecentProgressUpdates", 100, 20)
_DRIVER_MEMORY: Final = "spark.driver.memory"


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, UI_STATE.name)
    if rows:
        yield _full(run, rows)


def _full(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = [groups_of(row, UI_STATE) for row in rows]
    listener = next((one.get("thread") or one.get("listener") or one.get("frame") for one in found if len(one)), None)
    stream = any("stream" in one for one in found)
    where = f" in {listener}" if listener else " of a streaming query" if stream else ""
    return failure(
        run,
        rows,
        title=f"The driver's heap filled up{where}: what the UI retains of past jobs and queries takes it",
        summary="The driver keeps jobs, stages, tasks and SQL plans of the past in its heap for the UI, and "
        "listeners add to "
        "it with every batch: an application that runs long, or has large plans, fills the heap although each job is "
        "small.",
        advice=_advice(run, stream or not listener),
        confidence=0.8 if listener else 0.6,
        consequence="ended" if any(row.level != "WARN" for row in rows) else "risk",
    )


def _advice(run: Run, stream: bool) -> Iterator[Advice]:
    for setting, default, fewer in (*_KEPT, *((_PROGRESS,) if stream else ())):
        if number_setting(run, setting, default) > fewer:
            yield set_conf(setting, fewer, f"Instead of {default:,}; the event log keeps all.")
    memory = bytes_setting(run, _DRIVER_MEMORY, "1g", unit="m")
    if run.setting(_DRIVER_MEMORY):
        yield set_conf(_DRIVER_MEMORY, memory_words(2 * memory), "If single plans or batches are large.")
    else:
        yield Advice("cluster", "More driver memory (1g by default) helps if single plans are large.")
    yield Advice("check", "A heap dump (-XX:+HeapDumpOnOutOfMemoryError) says whether it is the UI's store.")


RULE = Rule(
    code="K45",
    name="ui-state",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(UI_STATE,),
)
