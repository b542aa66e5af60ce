"""On AWS Glue, memory or disk is short, and the worker type is what gives more.

## What it means
On Glue an executor is a worker, and the worker type fixes its cores, its memory and its disk; the memory settings that
help elsewhere are not meant to be used there. Here tasks spilled, collected much garbage or filled the heap, on workers
of the type named below.

## What it costs
Spill and collections have findings with a price of their own (C3, C1). A larger worker costs more for each hour, in
proportion to its cores; one with R in its name has twice the memory for each core, at a higher rate.

## What to do
Choose the next larger type with half as many workers: the same cores, but twice the memory that a single large task can
draw on. Where all tasks are short of memory, take a type with R (R.1X for G.1X) and keep the number of workers.

## When to ignore it
When one skewed partition is what does not fit: no worker is large enough for a key that holds half of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.settings import MIB
from emberscope.rules.sizing.container import shape_of
from emberscope.tables.conf import CONF
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# Worker type to its cores and memory in GiB, smallest first (AWS's documentation of Glue).
WORKERS: Final = {"G.1X": (4, 16), "G.2X": (8, 32), "G.4X": (16, 64), "G.8X": (32, 128)}
WITH_MORE_MEMORY: Final = {"G.1X": "R.1X", "G.2X": "R.2X", "G.4X": "R.4X", "G.8X": "R.8X"}


class Limits(Struct, frozen=True):
    """Worker types are AWS's. Memory is short from the spill on that spark-advisor calls critical, the collections that
    Dr. Elephant calls critical, or the heap use that DataFlint warns of."""

    spilled_bytes: int = 1_000_000_000  # to disk (spark-advisor)
    gc_ratio: float = 0.2  # of task time (Dr. Elephant)
    heap_ratio: float = 0.95  # of the heap in use (DataFlint)
    small_ms: int = 60_000  # applications with less task time are not judged


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    shape, sums = shape_of(run), run.application.tasks.sums
    run_ms = sums.get("executor_run_time_ms") or 0
    if run.application.vendor != "glue" or run_ms < limits.small_ms or shape.cores is None:
        return
    worker = next((name for name, (cores, _) in WORKERS.items() if cores == shape.cores), None)
    evidence = list(_shortage(run, limits, shape.heap_mib * MIB, run_ms))
    if worker is None or not evidence:
        return
    cores, memory = WORKERS[worker]
    larger = next((name for name, (more, _) in WORKERS.items() if more > cores), None)
    advice = [Advice("cluster", f"--worker-type {WITH_MORE_MEMORY[worker]}: twice the memory for each core.")]
    if larger is not None:
        text = f"Or --worker-type {larger} with half of --number-of-workers: the same cores, {2 * memory} GiB each."
        advice.append(Advice("cluster", text))
    yield Finding(
        title=f"Glue workers of type {worker} are short of memory",
        summary=f"Executors of {cores} cores are workers of type {worker} with {memory} GiB. "
        "On Glue the worker type, not a setting, gives more.",
        where=Where(),
        evidence=(Evidence(f"executors have {cores} cores", "executors.cores", cores, "cores"), *evidence),
        advice=tuple(advice),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Spill and collections are priced where they happened.",
        confidence=0.5,
        consequence="hint",
    )


def _shortage(run: Run, limits: Limits, heap: int, run_ms: int) -> Iterator[Evidence]:
    sums = run.application.tasks.sums
    spilled, gc_ms = sums.get("disk_spilled_bytes") or 0, sums.get("gc_time_ms") or 0
    if spilled >= limits.spilled_bytes:
        yield Evidence(f"{format_bytes(spilled)} spilled to disk", "tasks.disk_spilled_bytes", spilled, "bytes")
    if gc_ms >= limits.gc_ratio * run_ms:
        ratio = gc_ms / run_ms
        yield Evidence(f"{format_ratio(ratio)} of task time was garbage collection", "tasks.gc_time_ms", ratio, "ratio")
    peak = pc.max(run.tables["tasks"]["peak_jvm_heap_bytes"]).as_py() or 0
    if heap and peak >= limits.heap_ratio * heap:
        text = f"the fullest heap held {format_bytes(peak)} of {format_bytes(heap)}"
        yield Evidence(text, "tasks.peak_jvm_heap_bytes", peak, "bytes")


RULE = Rule(
    code="G8",
    name="glue-worker",
    since="0.1",
    reads=(Reads(CONF), Reads(EXECUTORS), Reads(TASKS)),
    limits=Limits(),
    check=check,
)
