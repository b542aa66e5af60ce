"""Tasks spent much of their time waiting for garbage collection.

## What it means
While a JVM collects garbage all tasks in it stand still. The share here is Spark's own: collection time of the executor
while tasks ran, over their run time. A high share means that the heap is nearly full of objects that stay alive (cached
data, large aggregations, broadcast tables, collected lists), or that very many short-lived objects are made.

## What it costs
Every task without the collection time above a healthy 5 %, replayed through the application.

## What to do
Give the heap room: more memory for the executor, or fewer cores in it so that fewer tasks share it. Cache less, or
serialised (MEMORY_AND_DISK with columnar DataFrames in place of RDDs of objects). Use DataFrame operations in place of
functions over objects. On large heaps a modern collector (G1) is worth a look where another one was set.

## When to ignore it
In short applications, where most of it is the heap growing to its size; and where the pauses do not delay the longest
stage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.memory.heap import heap_setting
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import MIB, is_local, memory_words, number_setting
from emberscope.simulate.replay import saving, timeline
from emberscope.simulate.stage_tasks import StageTasks, stage_tasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# The heap is raised by half: enough to see a change, not so much that nodes do not hold it (proposal).
_MORE_HEAP: Final = 1.5


@dataclass(frozen=True, slots=True)
class Limits:
    """Sources: Kubeflow's tools report from 10 %; Dr. Elephant's ladder is 8, 10, 15 and 20 %, and it calls less than
    5 % low. The floor is our proposal."""

    ratio: float = 0.10  # collection over run time of all tasks, or of one stage that is long enough (Kubeflow)
    healthy_ratio: float = 0.05  # what a run may spend; only more is priced (Dr. Elephant)
    floor_ms: int = 5_000  # collection time in all; less is start-up (proposal)
    stage_share: float = 0.5  # a stage with more than this share of the collection time is named (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    stages = stage_tasks(run)
    gc_ms = {stage.key: float(stage.amounts("gc_time_ms").sum()) for stage in stages}
    run_ms = {stage.key: float(stage.run_ms().sum()) for stage in stages}
    total_gc, total_run = sum(gc_ms.values()), sum(run_ms.values())
    if total_run <= 0 or total_gc < limits.floor_ms or total_gc < limits.ratio * total_run:
        return
    worst = max(stages, key=lambda stage: gc_ms[stage.key])
    place = place_of(places(run), worst.key)
    one = gc_ms[worst.key] > limits.stage_share * total_gc
    excess = {stage.key: _excess_ms(stage, limits.healthy_ratio) for stage in stages}
    application = timeline(run)
    if application is None:
        wall_ms, basis = None, "The times of the application are not known, so nothing could be replayed."
    else:
        changed = {}
        for stage in stages:
            durations = stage.durations_ms()
            changed[stage.key] = np.maximum(0.0, durations - excess[stage.key])[~np.isnan(durations)]
        price = saving(application, changed)
        wall_ms = price.wall_ms
        basis = f"Collection above {format_ratio(limits.healthy_ratio)} of each task taken off. {price.basis}"
    ratio = total_gc / total_run
    yield Finding(
        title=f"Garbage collection took {format_ratio(ratio)} of task time",
        summary=f"Tasks ran {format_ms(total_run)} in all and stood still for {format_ms(total_gc)} of it while their "
        f"executor collected garbage. "
        + (f"Most of it was in one stage: {place.sentence}." if one else f"The worst stage is {place.sentence}."),
        where=place.where if one else Where(),
        evidence=tuple(_evidence(run, ratio, worst, gc_ms[worst.key], run_ms[worst.key])),
        advice=tuple(_advice(run)),
        wasted_wall_ms=wall_ms,
        wasted_core_ms=round(sum(float(values.sum()) for values in excess.values())),
        saving_basis=basis,
        confidence=0.85,
    )


def _excess_ms(stage: StageTasks, healthy: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Collection time of each task above the healthy share of its run time."""
    excess: np.ndarray[tuple[int], np.dtype[np.float64]] = np.maximum(
        0.0, stage.amounts("gc_time_ms") - healthy * stage.run_ms()
    )
    return excess


def _evidence(run: Run, ratio: float, worst: StageTasks, gc_ms: float, run_ms: float) -> Iterator[Evidence]:
    yield Evidence(
        f"{format_ratio(ratio)} of all executor run time was garbage collection",
        "tasks.gc_time_ms / executor_run_time_ms",
        round(ratio, 4),
        "ratio",
    )
    yield Evidence(
        f"stage {worst.key[0]}: {format_ms(gc_ms)} of {format_ms(run_ms)}",
        "tasks.gc_time_ms",
        round(gc_ms),
        "ms",
    )
    key, heap = heap_setting(run)
    peak = float(np.nanmax(worst.numbers("peak_jvm_heap_bytes"), initial=0.0))
    if peak > 0:
        yield Evidence(
            f"the heap held {format_bytes(peak)} at most, of {format_bytes(heap)} ({key})",
            "tasks.peak_jvm_heap_bytes",
            peak,
            "bytes",
        )
    else:
        yield Evidence(f"the heap is {format_bytes(heap)} ({key})", "conf", heap, "bytes")


def _advice(run: Run) -> Iterator[Advice]:
    key, heap = heap_setting(run)
    value = memory_words(math.ceil(_MORE_HEAP * heap / (256 * MIB)) * 256 * MIB)
    yield set_conf(key, value, f"Half more room than the {format_bytes(heap)} of now.")
    cores = int(number_setting(run, "spark.executor.cores", 1))
    if cores > 1 and not is_local(run):
        yield set_conf(
            "spark.executor.cores",
            max(1, cores // 2),
            f"Or, in place of more memory: fewer tasks at one time share the heap (now {cores}).",
        )
    yield Advice(
        "check",
        "Look at what stays alive: cached data that nothing reads again (`unpersist`), lists collected per key, large "
        "broadcasts. The allocation samples of the stage show who makes the garbage.",
    )


RULE = Rule(
    code="C1",
    name="gc-pressure",
    since="0.1",
    reads=(Reads(TASKS, ("gc_time_ms", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
