"""Executors ran out of heap, or came close to it.

## What it means
A JVM that finds no room for an object even after a full collection throws an OutOfMemoryError, and so does Spark where
a sort or a join cannot get the least memory that it needs. The task fails, often its executor with it, and the work is
done again elsewhere. Before it comes to that, the heap stays nearly full and much time goes into collecting it; the
rule reports that too.

## What it costs
The time of the attempts that failed with this error, replayed without them. Where none has failed yet there is no
price: the next larger input may be the one that fails.

## What to do
Give the heap more room (the advice has a value), or let fewer tasks share it. More and smaller partitions need less
memory each. Look at what a task keeps in memory by itself: lists collected per key, whole files, large broadcasts, maps
that grow.

## When to ignore it
When one broken record made one task ask for an absurd amount (the message says how much): then mend the code that reads
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.memory.heap import Heap, heap_setting, heaps
from emberscope.rules.memory.lost_work import LostWork, ended, lost_with
from emberscope.rules.memory.recorded import HEAP, PEAKS_RECORD
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import MIB, is_local, memory_words, number_setting
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

OUT_OF_HEAP: Final = (
    r"OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded|Requested array size)"
    r"|UNABLE_TO_ACQUIRE_MEMORY|Unable to acquire \d+ bytes of memory"
)


class Limits(Struct, frozen=True):
    """Sources: DataFlint warns from 95 % of the heap. A peak alone says little, since garbage counts and a healthy JVM
    lets its heap fill up; so we ask for much collection too: Dr. Elephant's 5 % at least. From 10 % on, gc-pressure
    (C1) reports it."""

    full_ratio: float = 0.95  # peak over what the heap may hold (DataFlint)
    gc_ratio: float = 0.05  # collection over run time, at least (Dr. Elephant)
    much_gc_ratio: float = 0.10  # and below this, where C1 says it with a price
    more: float = 1.5  # so much more heap where it ran out (proposal),
    a_little_more: float = 1.2  # or came close (DataFlint)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    lost = lost_with(run, OUT_OF_HEAP)
    if lost is not None:
        yield _ran_out(run, limits, lost)
        return
    figures = stage_figures(run)
    fullest = max(heaps(run), key=lambda heap: heap.full_ratio or 0.0, default=None)
    if figures is None or fullest is None or (fullest.full_ratio or 0.0) < limits.full_ratio:
        return
    gc_ratio = float(figures.total("gc_time_ms").sum()) / max(1.0, float(figures.run_ms().sum()))
    if limits.gc_ratio <= gc_ratio < limits.much_gc_ratio:
        yield _near(run, limits, fullest, gc_ratio)


def _ran_out(run: Run, limits: Limits, lost: LostWork) -> Finding:
    place, price, hit = place_of(places(run), lost.worst_stage), lost.price(run), ended(run, OUT_OF_HEAP)
    return Finding(
        title=f"{place.title} ran out of heap",
        summary=f"{place.sentence}: {counted(lost.count, 'task attempt')} failed since the JVM had no room for them, "
        f"after {format_ms(lost.core_ms)} of work in all." + (" The job failed with it." if hit else ""),
        where=place.where,
        evidence=(
            Evidence(
                f"{counted(lost.count, 'task attempt')} failed so: {lost.said}",
                "tasks.error_message",
                lost.count,
                "tasks",
            ),
            _heap_evidence(run),
        ),
        advice=tuple(_advice(run, limits.more)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(lost.core_ms),
        saving_basis=price.basis,
        confidence=0.95,
        consequence="ended" if hit else "lost",
    )


def _near(run: Run, limits: Limits, fullest: Heap, gc_ratio: float) -> Finding:
    share = fullest.full_ratio or 0.0
    return Finding(
        title=f"The heap was {format_ratio(share)} full",
        summary=f"Executor {fullest.executor_id} had {format_bytes(fullest.peak_bytes or 0)} of "
        f"{format_bytes(fullest.limit_bytes)} of heap in use, and tasks stood still for {format_ratio(gc_ratio)} of "
        "their time while it was collected. The next larger input may not fit.",
        where=Where(executor=fullest.executor_id),
        evidence=(
            Evidence(
                f"{format_ratio(share)} of the heap in use at most",
                "executors.peak_jvm_heap_bytes",
                round(share, 4),
                "ratio",
            ),
            Evidence(
                f"{format_ratio(gc_ratio)} of task time was garbage collection",
                "tasks.gc_time_ms",
                round(gc_ratio, 4),
                "ratio",
            ),
        ),
        advice=tuple(_advice(run, limits.a_little_more)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Nothing was lost so far, so it has no price.",
        confidence=0.7,
        consequence="risk",
    )


def _heap_evidence(run: Run) -> Evidence:
    key, size = heap_setting(run)
    fullest = max(heaps(run), key=lambda heap: heap.peak_bytes or 0.0, default=None)
    if fullest is None or fullest.peak_bytes is None:
        return Evidence(f"the heap is {format_bytes(size)} ({key})", "conf", size, "bytes")
    return Evidence(
        f"executor {fullest.executor_id} had {format_bytes(fullest.peak_bytes)} of {format_bytes(fullest.limit_bytes)} "
        f"in use when it was last looked at ({key})",
        "executors.peak_jvm_heap_bytes",
        fullest.peak_bytes,
        "bytes",
    )


def _advice(run: Run, factor: float) -> Iterator[Advice]:
    key, size = heap_setting(run)
    value = memory_words(math.ceil(factor * size / (256 * MIB)) * 256 * MIB)
    yield set_conf(key, value, f"{factor:g} times the {format_bytes(size)} of now.")
    cores = int(number_setting(run, "spark.executor.cores", 1))
    if cores > 1 and not is_local(run):
        yield set_conf(
            "spark.executor.cores",
            max(1, cores // 2),
            f"Or, in place of more memory: fewer tasks at one time share the heap (now {cores}).",
        )
    yield Advice(
        "check",
        "Look at what one task holds: lists collected per key, whole files, maps that grow. More and smaller "
        "partitions (spark.sql.shuffle.partitions) make each task need less.",
    )


RULE = Rule(
    code="C5",
    name="heap-limit",
    since="0.1",
    reads=(Reads(TASKS), Reads(STAGES), Reads(JOBS), Reads(EXECUTORS)),
    limits=Limits(),
    check=check,
    partly=(Reads(EXECUTORS, ("peak_jvm_heap_bytes",), record=PEAKS_RECORD, series=HEAP),),
)
