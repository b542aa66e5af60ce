"""Tasks of a stage used nearly all the memory that each of them may have.

## What it means
Tasks of an executor share its unified memory (heap less 300 MiB, times `spark.memory.fraction`). With all cores busy,
each gets at most an equal part of it for its sorts, joins and aggregations. In this stage the median task held more
than four fifths of that part. Nothing was written to disk this time; with a quarter more data it would be.

## What it costs
Nothing yet, so there is no price. When it happens, spill (C3) reports what it costs.

## What to do
Give the stage more partitions: with the number in the advice, each task needs about half of what it may have. Or give
each task more memory, by fewer cores in an executor or a larger heap.

## When to ignore it
When the data do not grow, or when the local disks are fast and a spill would cost little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.memory.heap import execution_bytes, heaps
from emberscope.rules.places import Place, place_of, places
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """No tool that we know of compares the two; all values are our proposal."""

    ratio: float = 0.8  # what the median task held over what each task may have,
    most_ratio: float = 1.0  # and up to this: who held more without a spill had memory that others left
    looked_at: int = 50  # so many stages with the highest shares are looked at closely
    least_tasks: int = 4  # a median of fewer says nothing
    floor_ms: int = 10_000  # a shorter stage counts only where it is
    least_app_ratio: float = 0.01  # this share of the application
    partition_share: float = 0.5  # more partitions are to leave each task with this share


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    unified = execution_bytes(run)
    if not unified:
        return
    held = figures.median("peak_execution_memory_bytes")
    cores = max(heap.cores for heap in heaps(run))
    part = np.array([unified / max(1, cores // stage.cpus) for stage in figures.stages])
    least_ms = min(limits.floor_ms, limits.least_app_ratio * (run.application.observed_ms or 0))
    spilled = figures.total("disk_spilled_bytes") + figures.total("memory_spilled_bytes")
    near = (held >= limits.ratio * part) & (figures.counts >= limits.least_tasks)
    near &= (spilled == 0) & ~(figures.wall_ms < least_ms)
    candidates = np.flatnonzero(near)
    shares = []
    for index in candidates[np.argsort(-held[candidates], kind="stable")][: limits.looked_at].tolist():
        stage = figures.stages[index]
        # A stage with fewer tasks than slots leaves each of them more.
        at_one_time = min(cores // stage.cpus, math.ceil(len(stage) / len(set(stage.texts("executor_id")))))
        share = float(held[index]) / (unified / max(1, at_one_time))
        if limits.ratio <= share <= limits.most_ratio:
            shares.append((share, -index))
    if shares:
        share, index = max(shares)
        stage, most = figures.stages[-index], float(held[-index])
        yield _finding(run, limits, place_of(places(run), stage.key), stage, most, most / share)


def _finding(run: Run, limits: Limits, place: Place, stage: StageTasks, held: float, part: float) -> Finding:
    share = held / part
    return Finding(
        title=f"{place.title} used {format_ratio(share)} of its tasks' memory",
        summary=f"{place.sentence}: the median task held {format_bytes(held)} of execution memory, where each task may "
        f"have {format_bytes(part)} while all cores are busy. With more data it spills to disk.",
        where=place.where,
        evidence=(
            Evidence(
                f"the median of {format_count(len(stage))} tasks held {format_bytes(held)}",
                "tasks.peak_execution_memory_bytes",
                held,
                "bytes",
            ),
            Evidence(
                f"each task may have {format_bytes(part)}: the heap less 300 MiB, times spark.memory.fraction (or the "
                "memory off the heap), by the tasks that run at one time",
                "executors.max_on_heap_storage_bytes, conf",
                round(part),
                "bytes",
            ),
        ),
        advice=tuple(_advice(run, limits, place, stage, share)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Nothing was spilled, so it has no price.",
        confidence=0.6,
        consequence="hint",
    )


def _advice(run: Run, limits: Limits, place: Place, stage: StageTasks, share: float) -> Iterator[Advice]:
    count = math.ceil(len(stage) * share / limits.partition_share)
    if place.where.sql is not None and stage.shuffle_read_bytes().sum() > 0:
        yield set_conf(
            "spark.sql.shuffle.partitions",
            count,
            f"{count} partitions in place of {len(stage)}: each task holds half of what it may have.",
        )
    else:
        yield Advice("code", f"Give the stage {count} partitions in place of {len(stage)}.")


RULE = Rule(
    code="C9",
    name="execution-memory",
    since="0.1",
    reads=(Reads(TASKS, ("peak_execution_memory_bytes",)), Reads(STAGES), Reads(EXECUTORS)),
    limits=Limits(),
    check=check,
)
