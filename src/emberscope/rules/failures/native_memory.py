"""The operating system gave the JVM no memory, so that it could not start or could not go on.

## What it means
This is not a full heap (`OutOfMemoryError: Java heap space`): the JVM asked the system for memory, for its heap, a
thread or its own use, and the system refused (errno 12, ENOMEM). The machine has none left, the container may not have
more, or a limit of the user (address space, mappings) is reached. At start, it is the whole heap that was asked for:
more than the machine has free.

## What it costs
The process: an executor that never came or that went with its work, or the driver. Where it comes at each start, Spark
asks for executors in vain until the limit of failures ends the application.

## What to do
Ask for less heap than the machine has free, with room for what lies outside it; or let fewer executors share the
machine. Where driver and executors run on one machine (client mode, local mode, a notebook's host), all of them count.
On a machine that has memory left, look at the limits of the user (`ulimit -v`, `vm.max_map_count`,
`vm.overcommit_memory=2`).

## When to ignore it
When another program had filled the machine for a while, and the executor was replaced elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.hs_err import NATIVE_MEMORY, Crash, crash_of
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NO_PRICE: Final = "It says that a process was lost or never came, not what that cost: an event log does."
_MIB: Final = 1 << 20


class Limits(Struct, frozen=True):
    """Our proposals."""

    whole_heap_bytes: int = 256 << 20  # so much at once is the heap itself, as it is asked for at the start
    share: float = 0.75  # of what is free or refused: what a heap may be, with room beside it


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, NATIVE_MEMORY.name)
    if not rows:
        return
    row = max(rows, key=_asked)
    asked, crash = _asked(row), crash_of(row.text)
    at_start = asked >= limits.whole_heap_bytes
    driver = any(one.role in ("driver", "client", "am") for one in rows)
    key = "spark.driver.memory" if driver else "spark.executor.memory"
    ids = sorted({one.executor_id for one in rows if one.executor_id and one.executor_id != "driver"})
    who = f"Executor {', '.join(ids[:4])}" if ids else "The driver's JVM" if driver else "A JVM"
    size = f": {format_bytes(asked)} refused" if asked else ""
    yield Finding(
        title=f"{who} got no memory from the operating system{size}",
        summary="Native memory allocation failed (errno 12, cannot allocate memory): the machine or the container had "
        "no memory left for the JVM. "
        + (
            "So much at once is the heap as it is set: it is larger than what was free, with all other processes there."
            if at_start
            else "The heap is not what was full: threads, code and buffers outside it found no room."
        ),
        where=Where(executor=ids[0] if len(ids) == 1 else None, host=row.host),
        evidence=tuple(_evidence(rows, crash)),
        advice=tuple(_advice(limits, key, asked, crash, at_start)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=NO_PRICE,
        confidence=0.9,
        consequence="lost" if ids else "ended",
    )


def _asked(row: Said) -> int:
    text = row.fields.get("bytes") or row.fields.get("commit") or "0"
    return int(text) if text.isdigit() else 0


def _evidence(rows: tuple[Said, ...], crash: Crash) -> Iterator[Evidence]:
    for row in rows[:3]:
        yield row.evidence()
    where = rows[0].file or "log"
    if crash.machine_bytes:
        free = f", {format_bytes(crash.available_bytes)} of it available" if crash.available_bytes is not None else ""
        yield Evidence(
            f"the machine has {format_bytes(crash.machine_bytes)}{free}", where, crash.machine_bytes, "bytes"
        )
    if crash.container_limit_bytes:
        yield Evidence(
            f"the container may have {format_bytes(crash.container_limit_bytes)}", where, crash.container_limit_bytes
        )


def _advice(limits: Limits, key: str, asked: int, crash: Crash, at_start: bool) -> Iterator[Advice]:
    room = min((one for one in (crash.available_bytes, crash.container_limit_bytes) if one), default=None)
    if at_start:
        base = min(room, asked) if room else asked
        yield set_conf(
            key,
            f"{max(512, int(base * limits.share) // _MIB)}m",
            "A heap that fits into what was free, with a quarter left beside it"
            + ("." if room else " (by what was refused: see how much is free)."),
        )
    else:
        yield Advice(
            "cluster",
            "Let fewer executors share the machine, or take a larger one; in a container raise its limit by "
            "spark.executor.memoryOverhead (spark.driver.memoryOverhead for the driver), not the heap.",
        )
    yield Advice(
        "check",
        "On that machine: `free -m` and what else runs there; `ulimit -v`, `sysctl vm.overcommit_memory "
        "vm.max_map_count` where memory is free.",
    )


RULE = Rule(
    code="K81",
    name="native-memory",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(NATIVE_MEMORY,),
)
