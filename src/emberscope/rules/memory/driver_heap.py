"""The driver's heap was nearly full, or far too large.

## What it means
The driver's heap holds what is collected to it, the tables it broadcasts, the plans, and the state of all stages and
tasks. As it fills up, the driver collects garbage instead of starting tasks, answers executors late, and in the end
fails with an OutOfMemoryError, which ends the application. A driver that has 16 GiB or more and uses less than 40 % of
it holds memory that others could have.

## What it costs
No price can be given: a driver that stands still delays tasks in ways that no event shows, and unused memory delays
nobody.

## What to do
Set `spark.driver.memory` to the value in the advice, a fifth more than was used. Where the heap is nearly full, look
first at what the program brings to the driver: collect, toPandas, large broadcasts, many thousands of tasks or of
queries kept for the user interface.

## When to ignore it
When the driver has a machine to itself anyway, and in runs much smaller than usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.memory.container import rounded_up
from emberscope.rules.memory.heap import driver_heap_bytes
from emberscope.rules.memory.recorded import PEAKS_RECORD
from emberscope.rules.settings import MIB, is_local, memory_words
from emberscope.tables.executor_metrics import EXECUTOR_METRICS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_MEMORY: Final = "spark.driver.memory"


class Limits(Struct, frozen=True):
    """Sources: DataFlint warns from 95 % of the driver's memory and recommends the peak and a fifth; spark-advisor
    calls more than 16 GB wasteful, and a heap used by less than 40 % too large. That a full heap has to be collected
    often is our condition, as in C5."""

    full_ratio: float = 0.95  # peak over what the heap may hold (DataFlint)
    gc_ratio: float = 0.05  # the driver's collection over the application's time (Dr. Elephant calls less low)
    spare: float = 1.2  # the peak times this is what it needs (DataFlint)
    large_bytes: int = 16 << 30  # a smaller heap is never called too large (spark-advisor)
    little_ratio: float = 0.4  # used by less than this (spark-advisor)
    least_ms: int = 300_000  # in an application of at least this length (Compass)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    # In local mode tasks run in the driver: its heap is what C1, C4 and C5 speak of.
    peaks, length_ms = _driver_rows(run), run.application.observed_ms
    if is_local(run) or peaks is None or not length_ms:
        return
    peak, gc_ms = peaks
    heap = driver_heap_bytes(run)
    share, gc_ratio = peak / heap, gc_ms / length_ms
    if share >= limits.full_ratio and gc_ratio >= limits.gc_ratio:
        yield _finding(run, limits, peak, heap, gc_ms, full=True)
    elif heap >= limits.large_bytes and share < limits.little_ratio and length_ms >= limits.least_ms:
        yield _finding(run, limits, peak, heap, gc_ms, full=False)


def _driver_rows(run: Run) -> tuple[float, float] | None:
    """The driver's largest heap in use (bytes) and its time in collection (ms); None where it was not polled."""
    table = run.tables.get("executor_metrics")
    if table is None:
        return None
    mine = table.filter(pc.equal(table["executor_id"].cast(pa.string()), "driver"))
    heap = np.asarray(mine["jvm_heap_bytes"].cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    gc_ms = np.asarray(mine["total_gc_ms"].cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    if not (heap > 0).any():
        return None
    return float(np.nanmax(heap)), float(np.nanmax(np.nan_to_num(gc_ms), initial=0.0))


def _finding(run: Run, limits: Limits, peak: float, heap: float, gc_ms: float, *, full: bool) -> Finding:
    value = memory_words(rounded_up(max(limits.spare * peak, 1 << 30), 256 * MIB))
    share = format_ratio(peak / heap)
    check_first = Advice(
        "check",
        "Look at what the program brings to the driver: collect, toPandas, large broadcasts, and how many queries and "
        "stages it keeps (spark.ui.retainedStages, spark.sql.ui.retainedExecutions).",
    )
    change = set_conf(_MEMORY, value, f"A fifth more than the {format_bytes(peak)} that were in use at most.")
    return Finding(
        title=f"The driver's heap was {share} full" if full else f"The driver used {share} of its heap",
        summary=f"The driver had {format_bytes(peak)} of {format_bytes(heap)} in use at most and collected garbage for "
        f"{format_ms(gc_ms)}. "
        + ("The next larger result may end it, and the application with it." if full else "Less would have done."),
        where=Where(executor="driver"),
        evidence=(
            Evidence(f"{format_bytes(peak)} in use at most", "executor_metrics.jvm_heap_bytes", peak, "bytes"),
            Evidence(f"the driver's heap is {format_bytes(heap)} ({_MEMORY})", "conf", heap, "bytes"),
            Evidence(f"{format_ms(gc_ms)} in collection", "executor_metrics.total_gc_ms", round(gc_ms), "ms"),
        ),
        advice=(check_first, change) if full else (change,),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Nothing that could be replayed: no price can be given.",
        confidence=0.7,
        consequence="risk" if full else "hint",
    )


RULE = Rule(
    code="C7",
    name="driver-heap",
    since="0.1",
    reads=(Reads(EXECUTOR_METRICS, ("jvm_heap_bytes",), record=PEAKS_RECORD),),
    limits=Limits(),
    check=check,
)
