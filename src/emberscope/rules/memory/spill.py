"""Tasks of a stage ran out of execution memory and sorted or aggregated on disk.

## What it means
A sort, an aggregation or a join needs its rows in memory. A task that is not granted more writes what it holds to the
local disk, goes on, and merges the files in the end: every spilled byte is serialised, written, read and deserialised.
The memory a task may have is the executor's unified memory (heap less 300 MiB, times spark.memory.fraction), shared by
the tasks that run in the executor at one time and with what is cached.

## What it costs
An estimate: the spilled bytes on disk, written once and read once at 100 MB/s, a plain cloud volume; local flash is
faster and loses less. Where the stage was recorded, the wait for the disk is bounded by the time that its tasks were
off the CPU, and the CPU time in spill code is added as the samples show it. The price is what the application would
save by replay.

## What to do
More and smaller partitions, so that each one fits: the number below is computed from the bytes that this stage
shuffled. Where partitions are small already, a task needs more memory: fewer cores in an executor, or more memory for
the same cores. Where one skewed task did the spilling, mend the skew first: more partitions do not split one key.

## When to ignore it
When the spill is small beside what the stage reads, or the local disks are fast and the saving is near zero. A sort of
much data has to spill once; only repeated or large spills in short stages are worth a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from emberscope.rules.base import Evidence, Finding, Reads, Rule
from emberscope.rules.memory.spill_advice import advice_for
from emberscope.rules.places import Place, place_of, places
from emberscope.rules.spill_time import DISK_BYTES_PER_MS, disk_wait_ms
from emberscope.rules.stage_samples import operator_ratio
from emberscope.simulate.replay import Timeline, saving, timeline
from emberscope.simulate.stage_tasks import StageTasks, stage_tasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


@dataclass(frozen=True, slots=True)
class Limits:
    """Sources: spark-advisor warns at 0.1 GB of spill on disk and ignores less than 1 % of the input; Kubeflow's tools
    look at more than 100 MB of spill in memory. Where no tool is named, the value is our proposal."""

    disk_bytes: int = 100_000_000  # spilled to disk in the stage (spark-advisor)
    memory_bytes: int = 100_000_000  # or its size in memory (Kubeflow)
    least_read_ratio: float = 0.01  # spill on disk over what the stage read (spark-advisor)
    disk_bytes_per_ms: int = DISK_BYTES_PER_MS  # 100 MB/s: what a plain cloud volume gives one task (proposal)
    one_task_share: float = 0.5  # more than this share of the spill in one of many tasks: skew explains it (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    application, known = timeline(run), places(run)
    for stage in stage_tasks(run):
        disk, memory = stage.amounts("disk_spilled_bytes").sum(), stage.amounts("memory_spilled_bytes").sum()
        if disk < limits.disk_bytes and memory < limits.memory_bytes:
            continue
        if disk < limits.least_read_ratio * stage.read_bytes().sum():
            continue
        yield _finding(run, limits, application, place_of(known, stage.key), stage)


def _finding(run: Run, limits: Limits, application: Timeline | None, place: Place, stage: StageTasks) -> Finding:
    disk, memory = stage.amounts("disk_spilled_bytes"), stage.amounts("memory_spilled_bytes")
    spilled = (disk > 0) | (memory > 0)
    largest = int(np.argmax(disk))
    skewed = len(stage) >= 4 and disk[largest] > limits.one_task_share * disk.sum()
    measured = operator_ratio(run, stage.key[0], "spill")
    cost_ms = _cost_ms(stage, limits, measured)
    durations = stage.durations_ms()
    without = (durations - np.minimum(cost_ms, np.nan_to_num(durations)))[~np.isnan(durations)]
    if application is None:
        wall_ms, basis = None, "The times of the application are not known, so nothing could be replayed."
    else:
        price = saving(application, {stage.key: without})
        how = "the spilled bytes written and read once at 100 MB/s"
        if measured is not None:
            how += f", while off the CPU, and the {format_ratio(measured)} of the stage's CPU samples in spill code"
        wall_ms, basis = price.wall_ms, f"Time of the spill, estimated: {how}. {price.basis}"
    evidence = [
        Evidence(
            f"{format_bytes(disk.sum())} spilled to disk ({format_bytes(memory.sum())} in memory) by "
            f"{format_count(spilled.sum())} of {format_count(len(stage))} tasks",
            "tasks.disk_spilled_bytes",
            float(disk.sum()),
            "bytes",
        ),
        Evidence(
            f"the largest spill of one task is {format_bytes(disk[largest])}",
            "tasks.disk_spilled_bytes",
            float(disk[largest]),
            "bytes",
        ),
    ]
    peak = np.nanmax(stage.numbers("peak_execution_memory_bytes"), initial=0.0)
    if peak > 0:
        text = f"a task held at most {format_bytes(peak)} of execution memory"
        evidence.append(Evidence(text, "tasks.peak_execution_memory_bytes", float(peak), "bytes"))
    return Finding(
        title=f"{place.title} spilled {format_bytes(disk.sum())} to disk",
        summary=f"{place.sentence}: {format_count(spilled.sum())} of {format_count(len(stage))} tasks did not get the "
        f"memory they needed and worked on disk for about {format_ms(cost_ms.sum())} of task time."
        + (" One task did most of it: its partition is too large." if skewed else ""),
        where=place.where,
        evidence=tuple(evidence),
        advice=tuple(advice_for(run, place, stage, skewed=skewed)),
        wasted_wall_ms=wall_ms,
        wasted_core_ms=round(cost_ms.sum()),
        saving_basis=basis,
        confidence=0.7 if measured is not None else 0.6,
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
