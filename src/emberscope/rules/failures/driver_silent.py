"""An executor could not reach the driver and ended itself.

## What it means
An executor whose heartbeats fail `spark.executor.heartbeat.maxFailures` times in a row (60, ten minutes) ends with exit
code 56; one whose connection to the driver breaks ends at once. The trouble is on the driver's side or between the two:
a driver in long garbage collections, overloaded by events or by what was collected, or gone.

## What it costs
The executor and what it holds; where the driver was the trouble, all executors one after the other.

## What to do
Look at the driver at that time: its heap and garbage collections, its CPU, dropped listener events, or its end. Give it
memory and cores, collect less, and have fewer tasks per stage.

## When to ignore it
When the driver had ended: executors that then go this way are its echo, and that is usual at the end of an application.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of, is_question, who
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DRIVER_SILENT: Final = Signature(
    name="driver-silent",
    pattern=r"Exit as unable to send heartbeats to driver more than (?P<times>\d+) times|"
    r"Issue communicating with driver in heartbeater|"
    r"(?:[Ee]xecutor self-exiting due to : )?Driver (?P<driver>\S+) disassociated! Shutting down",
    literals=(
        "unable to send heartbeats to driver",
        "Issue communicating with driver in heartbeater",
        "disassociated! Shutting down",
    ),
    words=((r"heart-?beats?", r"to (the )?driver"),),
)

# The driver's receiver is gone before the driver is: the application ends, by itself or by its first error.
_ENDED: Final = re.compile(
    r"Could not find HeartbeatReceiver|RpcEnv(?: already)? stopped|HeartbeatReceiver .{0,40}stopped"
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = tuple(row for row in said(run, DRIVER_SILENT.name) if not _ENDED.search(row.text))
    if not rows:
        return
    times = next((found["times"] for row in rows if "times" in (found := groups_of(row, DRIVER_SILENT))), None)
    name = who(rows)
    name = name if name and name != "The driver" else "An executor"
    gave_up = times is not None or any("eartbeat" in row.text for row in rows)
    # One heartbeat that failed is a warning: it is sent again, and the executor lives on.
    warned = times is None and all("in heartbeater" in row.text for row in rows)
    alone = all("disassociated!" in row.text for row in rows)
    yield failure(
        run,
        rows,
        title=f"{name} could not send a heartbeat to the driver"
        if warned
        else f"{name} could not reach the driver{f' {times} times in a row' if times else ''} and ended itself",
        summary="Heartbeats to the driver failed (exit code 56 after spark.executor.heartbeat.maxFailures in a row), "
        "or the connection to it broke. The driver is the side to look at: overloaded, in long garbage collections, or "
        "already gone; else the network between the two.",
        advice=(
            Advice(
                "check",
                "Look at the driver at that time: its end, its GC pauses and heap, its CPU, events dropped from its "
                "listener queues.",
            ),
            Advice(
                "cluster",
                "Give the driver more memory and cores (spark.driver.memory, spark.driver.cores), and it less to do: "
                "fewer tasks, less collected.",
            ),
        ),
        confidence=0.8 if gave_up else 0.6,
        # Executors see the driver go at the end of every application.
        consequence="hint" if (alone or warned) and not any(is_question(row) for row in rows) else "lost",
    )


RULE = Rule(
    code="K13",
    name="driver-silent",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(DRIVER_SILENT,),
)
