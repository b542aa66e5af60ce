"""Executors have far more heap than they ever used.

## What it means
The heap of an executor is memory that nobody else on the cluster can have, used or not. Here even the fullest executor
never had 40 % of it in use, garbage included, and hardly any time went into collecting it: a smaller heap would have
done.

## What it costs
Memory for the life of each executor, in GiB hours: money where memory is paid for, room for other applications where it
is shared. It makes nobody wait, so there is no price in time.

## What to do
Set the heap to the value in the advice: the highest use that was seen and a fifth more, and at least what the largest
task held, once for each core. Executors that need less memory fit into smaller nodes, or more of them into one. Where
the memory comes with the cores anyway, put more cores into each executor instead of taking memory away.

## When to ignore it
When another run reads far more data with the same settings, when memory costs nothing, or when the application was too
short to show its peak: Spark itself looks at the heap only with each heartbeat, every 10 seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.memory.container import KILLED, OVERHEAD, has_container, overhead_bytes, rounded_up
from emberscope.rules.memory.heap import RESERVED_BYTES, Heap, heap_setting, heaps, memory_fraction, polled_ratio
from emberscope.rules.memory.heap_limit import OUT_OF_HEAP
from emberscope.rules.memory.lost_work import lost_with
from emberscope.rules.memory.recorded import HEAP, PEAKS_RECORD
from emberscope.rules.settings import MIB, is_local, memory_words
from emberscope.simulate.cores import observed_window
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_GIB = 1 << 30
_HOUR_MS = 3_600_000


class Limits(Struct, frozen=True):
    """Sources: spark-advisor reports a heap that is used by less than 40 %, DataFlint by less than 70 %, with the peak
    and a fifth as the better size; Dr. Elephant calls collection under 5 % of the run time low. The floors are our
    proposal."""

    full_ratio: float = 0.4  # peak over what the heap may hold (spark-advisor)
    gc_ratio: float = 0.05  # with more collection the heap is not too large, whatever its peak (Dr. Elephant)
    spare: float = 1.2  # the peak times this is what it needs (DataFlint)
    spilled_bytes: int = 100_000_000  # tasks that spill want more memory, not less (as in C3)
    task_time_ms: int = 60_000  # shorter applications do not show their peak (proposal)
    seen_share: float = 0.5  # so much of the task time must be of tasks during which the heap was looked at (proposal)
    least_bytes: int = 1 << 30  # so much less for each executor, or it is not worth a change (proposal)
    least_gib_hours: float = 1.0  # and so much in all (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures, known = stage_figures(run), [heap for heap in heaps(run) if heap.peak_bytes is not None]
    # On Databricks the heap comes with the node.
    if figures is None or run.application.vendor == "databricks" or not known:
        return
    task_ms = float(figures.run_ms().sum())
    gc_ratio = float(figures.total("gc_time_ms").sum()) / max(1.0, task_ms)
    spilled = sum(float(figures.total(name).sum()) for name in ("disk_spilled_bytes", "memory_spilled_bytes"))
    fullest = max(known, key=lambda heap: heap.full_ratio or 0.0)
    if (
        task_ms < limits.task_time_ms
        or polled_ratio(run, figures, "executor_run_time_ms") < limits.seen_share
        or (fullest.full_ratio or 1.0) >= limits.full_ratio
        or gc_ratio >= limits.gc_ratio
        or spilled >= limits.spilled_bytes
        or _failed_for_memory(run)
    ):
        return
    size = _enough_bytes(run, limits, known)
    now = heap_setting(run)[1] if run.setting(heap_setting(run)[0]) else max(heap.limit_bytes for heap in known)
    hours = _gib_hours(run, now - size)
    if now - size < limits.least_bytes or hours < limits.least_gib_hours:
        return
    yield _finding(run, fullest, now, size, hours, gc_ratio)


def _finding(run: Run, fullest: Heap, now: float, size: int, hours: float, gc_ratio: float) -> Finding:
    peak, whose = fullest.peak_bytes or 0.0, "The driver" if is_local(run) else "Executors"
    key, _ = heap_setting(run)
    return Finding(
        title=f"{whose} used {format_bytes(peak)} of {format_bytes(now)} of heap",
        summary=f"The fullest heap held {format_bytes(peak)} at most, garbage included, and collection took "
        f"{format_ratio(gc_ratio)} of task time. {format_bytes(size)} would have done: {hours:,.1f} GiB hours less of "
        "memory.",
        where=Where(),
        evidence=(
            Evidence(
                f"executor {fullest.executor_id} had {format_bytes(peak)} of {format_bytes(fullest.limit_bytes)} in "
                "use at most",
                "executors.peak_jvm_heap_bytes",
                peak,
                "bytes",
            ),
            Evidence(
                f"{format_ratio(gc_ratio)} of task time was garbage collection",
                "tasks.gc_time_ms",
                round(gc_ratio, 4),
                "ratio",
            ),
            Evidence(
                f"{hours:,.1f} GiB hours of heap were never used",
                "executors.added_ms, executors.removed_ms",
                round(hours, 2),
                "GiB h",
            ),
        ),
        advice=tuple(_advice(run, key, peak, now, size)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Less memory makes nothing faster, so it has no price in time.",
        confidence=0.7,
        consequence="hint",
    )


def _advice(run: Run, key: str, peak: float, now: float, size: int) -> Iterator[Advice]:
    yield set_conf(
        key, memory_words(size), f"A fifth more than the {format_bytes(peak)} that were used; now {format_bytes(now)}."
    )
    if has_container(run) and run.setting(OVERHEAD) is None:
        overhead = overhead_bytes(run, round(now))
        if overhead > overhead_bytes(run, size):
            yield set_conf(
                OVERHEAD,
                memory_words(rounded_up(overhead)),
                "As it is now: it follows the heap, and what needs it (Python, buffers) does not shrink with the heap.",
            )


def _enough_bytes(run: Run, limits: Limits, known: Sequence[Heap]) -> int:
    """The peak and a fifth; and unified memory for the largest task on each core at one time."""
    figures = stage_figures(run)
    held = 0.0 if figures is None else float(np.nanmax(figures.most("peak_execution_memory_bytes"), initial=0.0))
    cores = max(heap.cores for heap in known)
    for_tasks = RESERVED_BYTES + cores * held / max(0.01, memory_fraction(run))
    peak = max(heap.peak_bytes or 0.0 for heap in known)
    return rounded_up(max(limits.spare * peak, for_tasks, _GIB), 256 * MIB)


def _gib_hours(run: Run, size_bytes: float) -> float:
    """So much less memory over the lives of all executors."""
    window = observed_window(run)
    if window is None:
        return 0.0
    lives = 0.0
    for heap in heaps(run):
        begin = window[0] if heap.added_ms is None else max(window[0], heap.added_ms)
        end = window[1] if heap.removed_ms is None else min(window[1], heap.removed_ms)
        lives += max(0, end - begin)
    return max(0.0, size_bytes) / _GIB * lives / _HOUR_MS


def _failed_for_memory(run: Run) -> bool:
    reasons = run.tables["executors"]["removed_reason"]
    return lost_with(run, OUT_OF_HEAP) is not None or bool(pc.any(pc.match_substring_regex(reasons, KILLED)).as_py())


RULE = Rule(
    code="C4",
    name="heap-oversized",
    since="0.1",
    reads=(
        Reads(TASKS, ("gc_time_ms", "executor_run_time_ms")),
        Reads(EXECUTORS, ("peak_jvm_heap_bytes",), record=PEAKS_RECORD, series=HEAP),
    ),
    limits=Limits(),
    check=check,
)
