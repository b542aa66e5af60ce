"""Tasks of a stage ran out of execution memory and sorted or aggregated on disk.

## What it means
A sort, an aggregation or a join holds rows in memory. A task that gets no more of that memory writes what it holds to
the local disk, goes on, and merges the files in the end: every spilled byte is serialised, written, read and
deserialised. The memory a task may have is the executor's unified memory (heap less 300 MiB, times
`spark.memory.fraction`), shared by the tasks that run in the executor at one time and with what is cached.

## What it costs
An estimate: the spilled bytes, written to disk once and read once at 100 MB/s, a plain cloud volume; on local flash
less is lost. Where the stage was recorded, the wait for the disk is limited to the time that its tasks were off the
CPU, and the CPU time that the samples show in spill code is added. The price is what the application would save by
replay.

## What to do
Use more and smaller partitions, so that each one fits: the advice computes their number from the bytes that this stage
shuffled. Where partitions are small already, a task needs more memory: fewer cores in an executor, more memory for the
same cores, or `spark.memory.fraction` back at 0.6 where it was lowered. Where one skewed task did most of the spilling,
mend the skew first: more partitions do not split one key.

## When to ignore it
When the spill is small beside what the stage reads, or the local disks are fast and the saving is near zero. A sort of
much data has to spill once; only repeated or large spills in short stages are worth a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule
from emberscope.rules.memory.heap import task_memory_bytes
from emberscope.rules.memory.spill_advice import advice_for
from emberscope.rules.places import Place, place_of, places
from emberscope.rules.price import Price, priced
from emberscope.rules.spill_time import DISK_BYTES_PER_MS, disk_wait_ms
from emberscope.rules.stage_samples import operator_ratio
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: spark-advisor warns at 0.1 GB of spill on disk and ignores less than 1 % of the input; Kubeflow's tools
    look at more than 100 MB of spill in memory. Where no tool is named, the value is our proposal."""

    disk_bytes: int = 100_000_000  # spilled to disk in the stage (spark-advisor)
    memory_bytes: int = 100_000_000  # or its size in memory (Kubeflow)
    least_read_ratio: float = 0.01  # spill on disk over what the stage read (spark-advisor)
    disk_bytes_per_ms: int = DISK_BYTES_PER_MS  # 100 MB/s: what a plain cloud volume gives one task (proposal)
    one_task_share: float = 0.5  # more than this share of the spill in one of many tasks: skew explains it (proposal)
    most_stages: int = 25  # so many stages with the largest spills are priced, each by a replay (proposal)
    floor_ms: int = 10_000  # a shorter stage counts only where it is
    least_app_ratio: float = 0.01  # this share of the application (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    disk, memory = figures.total("disk_spilled_bytes"), figures.total("memory_spilled_bytes")
    read = sum(
        (figures.total(name) for name in ("input_bytes", "shuffle_read_local_bytes", "shuffle_read_remote_bytes")),
        np.zeros(len(disk)),
    )
    least_ms = min(limits.floor_ms, limits.least_app_ratio * (run.application.observed_ms or 0))
    much = ((disk >= limits.disk_bytes) | (memory >= limits.memory_bytes)) & (
        (disk >= limits.least_read_ratio * read) | (disk == 0)
    )
    known = places(run) if much.any() else {}
    spilling = np.flatnonzero(much & ~(figures.wall_ms < least_ms))
    most_first = np.lexsort((-memory[spilling], -disk[spilling]))
    for index in np.sort(spilling[most_first][: limits.most_stages]).tolist():
        stage = figures.stages[index]
        yield _finding(run, limits, place_of(known, stage.key), stage)


def _finding(run: Run, limits: Limits, place: Place, stage: StageTasks) -> Finding:
    disk, memory = stage.amounts("disk_spilled_bytes"), stage.amounts("memory_spilled_bytes")
    spilled = (disk > 0) | (memory > 0)
    on_disk = disk.sum() > 0
    largest = int(np.argmax(disk if on_disk else memory))
    skewed = len(stage) >= 4 and memory[largest] + disk[largest] > limits.one_task_share * (memory + disk).sum()
    measured = operator_ratio(run, stage.key[0], "spill")
    cost_ms = _cost_ms(stage, limits, measured)
    if on_disk:
        durations = stage.durations_ms()
        without = (durations - np.minimum(cost_ms, np.nan_to_num(durations)))[~np.isnan(durations)]
        how = "the spilled bytes written and read once at 100 MB/s"
        if measured is not None:
            how += f", while off the CPU, and the {format_ratio(measured)} of the stage's CPU samples in spill code"
        price = priced(run, {stage.key: without}, f"Time of the spill, estimated: {how}.")
    else:
        price = Price(None, "The log does not say how many bytes went to disk, so the spill has no price.")
    size = f"{format_bytes(disk.sum())} to disk" if on_disk else f"{format_bytes(memory.sum())} of memory"
    cost = f" and worked on disk for about {format_ms(cost_ms.sum())} of task time" if on_disk else ""
    return Finding(
        title=f"{place.title} spilled {size}",
        summary=f"{place.sentence}: {format_count(spilled.sum())} of {format_count(len(stage))} tasks did not get the "
        f"memory they needed{cost}." + (" One task did most of it: its partition is too large." if skewed else ""),
        where=place.where,
        evidence=tuple(_evidence(run, stage, largest)),
        advice=tuple(advice_for(run, place, stage, skewed=skewed)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(cost_ms.sum()) if on_disk else None,
        saving_basis=price.basis,
        confidence=0.7 if measured is not None else 0.6,
    )


def _evidence(run: Run, stage: StageTasks, largest: int) -> Iterator[Evidence]:
    disk, memory = stage.amounts("disk_spilled_bytes"), stage.amounts("memory_spilled_bytes")
    spilled = (disk > 0) | (memory > 0)
    yield Evidence(
        f"{format_bytes(disk.sum())} spilled to disk ({format_bytes(memory.sum())} in memory) by "
        f"{format_count(spilled.sum())} of {format_count(len(stage))} tasks",
        "tasks.disk_spilled_bytes",
        float(disk.sum()),
        "bytes",
    )
    yield Evidence(
        f"the largest spill of one task is {format_bytes(disk[largest])} ({format_bytes(memory[largest])} in memory)",
        "tasks.disk_spilled_bytes",
        float(disk[largest]),
        "bytes",
    )
    peak = np.nanmax(stage.numbers("peak_execution_memory_bytes"), initial=0.0)
    if peak > 0:
        text = f"a task held at most {format_bytes(peak)} of execution memory"
        yield Evidence(text, "tasks.peak_execution_memory_bytes", float(peak), "bytes")
    share = task_memory_bytes(run, stage.cpus)
    if share:
        yield Evidence(
            f"with all cores busy a task may have {format_bytes(share)}: the heap less 300 MiB, times "
            "spark.memory.fraction (or the memory off the heap), by the tasks that run at one time",
            "executors.max_on_heap_storage_bytes, conf",
            round(share),
            "bytes",
        )


def _cost_ms(stage: StageTasks, limits: Limits, measured: float | None) -> NDArray[np.float64]:
    """Milliseconds that each task spent on its spill, never more than it ran."""
    disk, run_ms = stage.amounts("disk_spilled_bytes"), stage.run_ms()
    cost_ms = disk_wait_ms(disk, limits.disk_bytes_per_ms)
    if measured is not None and disk.sum() > 0:
        cpu_ms = stage.amounts("executor_cpu_time_ns") * 1e-6
        # The samples tell the share of the stage; the tasks have it by what they spilled.
        cost_ms = np.minimum(cost_ms, np.maximum(0.0, run_ms - cpu_ms)) + measured * cpu_ms.sum() * disk / disk.sum()
    result: NDArray[np.float64] = np.minimum(run_ms, cost_ms)
    return result


RULE = Rule(
    code="C3",
    name="spill",
    since="0.1",
    reads=(Reads(TASKS, ("disk_spilled_bytes", "memory_spilled_bytes")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
