"""The heap stayed full: the collector ran over all of it again and again and freed next to nothing.

## What it means
A log of the garbage collector tells of every collection how much was in use before and after it. Where several
collections of the whole heap in a row leave more than nine tenths of it in use, everything in it is alive: cached data,
broadcast tables, state, or the rows that running tasks hold. The JVM then does little but collect. It either ends with
an OutOfMemoryError (Java heap space, GC overhead limit exceeded), or misses its heartbeats and is given up by the
driver: both are consequences of this.

## What it costs
While it lasts, nearly all of the processor's time; then the executor with its tasks and its shuffle output, or the
driver with the application.

## What to do
Give the heap room (the advice computes a size from the log), or put less into it: fewer cores in an executor, so that
fewer tasks share its heap; smaller partitions; fewer and smaller broadcasts; cached data with `MEMORY_AND_DISK`. In the
driver: collect less, and keep less for the interface (`spark.sql.ui.retainedExecutions`, `spark.ui.retainedTasks`).

## When to ignore it
When it was a single stretch that ended by itself, no process went away, and the same data will not come again with
more of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.gc_log import FULL_HEAP
from emberscope.rules.base import Advice, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.failures.processes import by_side, named, of_driver, only_one
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NO_PRICE: Final = (
    "The log of the collector has the pauses, not the tasks that waited: an event log of the same run does."
)
_MIB: Final = 1 << 20


class Limits(Struct, frozen=True):
    """What is full, and how often it must be so, is decided where the log is read (`logs/gc_log.py`)."""

    more: float = 1.5  # times the heap that was full (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for rows in by_side([row for row in said(run, FULL_HEAP.name) if row.fields]):
        yield _finding(rows, limits)


def _finding(rows: list[Said], limits: Limits) -> Finding:
    row = max(rows, key=lambda one: (float(one.fields["share"]), int(one.fields["count"])))
    count, seconds = int(row.fields["count"]), float(row.fields["seconds"])
    after, heap, share = int(row.fields["after"]), int(row.fields["heap"]), float(row.fields["share"])
    driver, who = of_driver(row), named(rows)
    several = "; the worst" if len(rows) > 1 else ""
    key = "spark.driver.memory" if driver else "spark.executor.memory"
    return Finding(
        title=f"The heap of {who} stayed full{several}: {count} full collections left {format_bytes(after)} of "
        f"{format_bytes(heap)} in use",
        summary=f"Within {format_ms(seconds * 1000)} the collector went over the whole heap {count} times and freed "
        f"next to nothing; that took {format_ratio(share)} of the time. All in it is alive, so the next step is an "
        "OutOfMemoryError (Java heap space, GC overhead limit exceeded) or a lost heartbeat.",
        where=Where(executor=only_one(rows), host=row.host if len(rows) == 1 else None),
        evidence=tuple(one.evidence() for one in [row, *(one for one in rows if one is not row)][:3]),
        advice=(
            set_conf(
                key,
                f"{int(-(-heap * limits.more // _MIB))}m",
                f"Half more than the {format_bytes(heap)} that were full; memoryOverhead does not help a full heap.",
            ),
            Advice(
                "code",
                "Put less into it: fewer cores per executor, smaller partitions, smaller broadcasts, less cached; in "
                "the driver collect less and retain less for the interface.",
            ),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=NO_PRICE,
        confidence=0.9,
        consequence="lost" if share >= 0.5 else "risk",
    )


RULE = Rule(
    code="K82",
    name="gc-full-heap",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(FULL_HEAP,),
)
