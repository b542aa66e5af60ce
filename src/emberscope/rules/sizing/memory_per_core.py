"""Executors have so little heap for each core that larger partitions will not fit.

## What it means
Tasks that run at the same time share the heap of their executor, so what counts is memory for each core. Below a
gibibyte or so little is left to sort and join in: Spark reserves 300 MiB of the heap and keeps objects of its own
there. Here the heap was enough, but it was nearly full at its peak.

## What it costs
No price: nothing spilled, and little time went into collections. What is at stake is the next larger input.

## What to do
Change cores or memory of an executor so that a core has some 4 GiB, which is what common machines have: the value below
keeps the cores and changes the memory. Fewer cores for the same memory do it too.

## When to ignore it
When the input never grows: a heap also fills up with garbage before it is collected, so a full one is no proof. When
the cluster has no more memory to give, more and smaller partitions are the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import MIB, is_local, memory_words
from emberscope.rules.sizing.container import shape_of
from emberscope.tables.conf import CONF
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_bytes, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """spark-history-cli calls less than 2 GB for a core critical. Real logs with so little and no trouble are many, so
    here it counts from 1 GiB down, and only where the heap was seen nearly full (our proposals)."""

    least_bytes: int = 1 << 30  # memory for each core
    used_ratio: float = 0.7  # of the heap, at least
    small_ms: int = 60_000  # applications with less task time are not judged
    memory_trouble_ratio: float = 0.1  # of task time in collections: the finding on collections says it better


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    shape, sums = shape_of(run), run.application.tasks.sums
    run_ms, gc_ms = sums.get("executor_run_time_ms") or 0, sums.get("gc_time_ms") or 0
    if is_local(run) or not shape.cores or run_ms < limits.small_ms:
        return
    heap = shape.heap_mib * MIB
    each = (heap + shape.beside_mib * MIB) / shape.cores
    peak = pc.max(run.tables["tasks"]["peak_jvm_heap_bytes"]).as_py() or 0
    trouble = sums.get("disk_spilled_bytes") or gc_ms >= limits.memory_trouble_ratio * run_ms
    if each >= limits.least_bytes or peak < limits.used_ratio * heap or trouble:
        return
    wanted = memory_words(4 * shape.cores * 1024 * MIB)
    yield Finding(
        title=f"{format_bytes(each)} of memory for each core, and the heap was nearly full",
        summary=f"The tasks of one executor share {format_bytes(heap)} of heap. It was enough this time; larger "
        "partitions may not fit.",
        where=Where(),
        evidence=(
            Evidence(f"{format_bytes(heap)} of heap for {counted(shape.cores, 'core')}", "conf", each, "bytes"),
            Evidence(
                f"the fullest heap held {format_bytes(peak)}, {format_ratio(peak / heap)} of it",
                "tasks.peak_jvm_heap_bytes",
                peak,
                "bytes",
            ),
        ),
        advice=(set_conf("spark.executor.memory", wanted, "4 GiB for each core, where the nodes have it."),),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Memory for each core has no price of its own; spill and collections have.",
        confidence=0.5,
        consequence="risk",
    )


RULE = Rule(
    code="G6",
    name="memory-per-core",
    since="0.1",
    reads=(Reads(CONF), Reads(EXECUTORS), Reads(TASKS, ("peak_jvm_heap_bytes",))),
    limits=Limits(),
    check=check,
)
