"""Tasks spent much of their time waiting for garbage collection.

## What it means
While a JVM stops to collect garbage, all tasks in it stand still. The share here is Spark's own measure: collection
time of the executor while tasks ran, over their run time. A high share means that the heap is nearly full of objects
that stay alive (cached data, large aggregations, broadcast tables, collected lists), or that very many short-lived
objects are made. How full the heap got tells which of the two it is, where the log says so.

## What it costs
What the application would save, by replay, if no task spent more than a healthy 5 % of its time on collection. It is
the most that a cure can bring. Executors that live for less than a minute spend much of it on growing their heap step
by step, and a larger heap alone does not end that.

## What to do
Give a full heap room: more memory for the executor, or fewer cores in it so that fewer tasks share it. Cache less, and
cache DataFrames (columnar and compressed) instead of RDDs of objects. Use DataFrame operations in place of functions
over objects. On a large heap, try G1 where another collector was set. A heap that never got half full needs no more
memory: there the amount of garbage is the trouble.

## When to ignore it
In short applications, where most of it is a large heap growing to its size (the rule is silent where nearly all of the
collection fell into the first half minute of executors with large heaps); and where the saving is near zero, because
the pauses delay nothing that others wait for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where
from emberscope.rules.memory.gc_advice import advice_for
from emberscope.rules.memory.heap import full_ratio, heap_bytes, heap_setting, heaps, polled_ratio
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.simulate.stage_figures import StageFigures, stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: Kubeflow's tools report from 10 %; Dr. Elephant's ladder is 8, 10, 15 and 20 %, and it calls less than
    5 % low. All else is our proposal."""

    ratio: float = 0.10  # collection over run time of all tasks (Kubeflow)
    healthy_ratio: float = 0.05  # what a run may spend; only more is priced (Dr. Elephant)
    floor_ms: int = 5_000  # collection time in all; less is start-up (proposal)
    stage_share: float = 0.5  # a stage with more than this share of the collection time is named (proposal)
    full: float = 0.5  # a heap that never held this share is not full: memory is no cure (proposal)
    polled_ms: int = 30_000  # a task of three heartbeats shows how full its heap was,
    polled_share: float = 0.5  # if so much of the collection is in such tasks (proposal)
    start_ms: int = 30_000  # in the first half minute of an executor (proposal)
    large_bytes: int = 4 << 30  # a heap of this size grows to it, and collects at each step (proposal),
    start_share: float = 0.9  # if so much of the collection was then (proposal)
    early_share: float = 0.5  # so much of the collection then makes the cure unsure (proposal)
    priced_share: float = 0.001  # stages with less of the time that could go are not replayed (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    gc_ms, run_ms = figures.total("gc_time_ms"), figures.run_ms()
    total_gc, total_run = float(gc_ms.sum()), float(run_ms.sum())
    if total_run <= 0 or total_gc < limits.floor_ms or total_gc < limits.ratio * total_run:
        return
    full = full_ratio(run)
    known_full = full is not None and full >= limits.full
    looked_at = polled_ratio(run, figures, "gc_time_ms", limits.polled_ms)
    has_room = full is not None and not known_full and looked_at >= limits.polled_share
    early = _early_share(run, figures, limits.start_ms)
    grows = early >= limits.start_share and heap_bytes(run) >= limits.large_bytes and not known_full
    if grows or (has_room and early >= limits.start_share):
        return
    worst = figures.stages[int(np.argmax(gc_ms))]
    place = place_of(places(run), worst.key)
    one = float(gc_ms.max()) > limits.stage_share * total_gc
    excess = {stage.key: _excess_ms(stage, limits.healthy_ratio) for stage in figures.stages}
    core_ms = sum(float(values.sum()) for values in excess.values())
    price = priced(
        run,
        {
            stage.key: _without(stage, excess[stage.key])
            for stage in figures.stages
            if excess[stage.key].sum() > limits.priced_share * core_ms
        },
        f"Collection above {format_ratio(limits.healthy_ratio)} of each task taken off: the most that room in the heap "
        "or less garbage can save.",
    )
    ratio = total_gc / total_run
    yield Finding(
        title=f"Garbage collection took {format_ratio(ratio)} of task time",
        summary=f"Tasks ran {format_ms(total_run)} in all and stood still for {format_ms(total_gc)} of it while their "
        f"executor collected garbage. "
        + (f"Most of it was in one stage: {place.sentence}." if one else f"The worst stage is {place.sentence}."),
        where=place.where if one else Where(),
        evidence=tuple(_evidence(run, ratio, worst, early)),
        advice=tuple(advice_for(run, ratio, has_room=has_room)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(core_ms),
        saving_basis=price.basis,
        # Early collection may be the growth of the heap, which more memory does not end; all the more where it is not
        # known whether the heap was full.
        confidence=0.85 if early < limits.early_share else 0.7 if known_full or has_room else 0.6,
    )


def _excess_ms(stage: StageTasks, healthy: float) -> NDArray[np.float64]:
    """Collection time of each task above the healthy share of its run time."""
    excess: NDArray[np.float64] = np.maximum(0.0, stage.amounts("gc_time_ms") - healthy * stage.run_ms())
    return excess


def _without(stage: StageTasks, excess: NDArray[np.float64]) -> NDArray[np.float64]:
    durations = stage.durations_ms()
    left: NDArray[np.float64] = np.maximum(0.0, durations - excess)[~np.isnan(durations)]
    return left


def _early_share(run: Run, figures: StageFigures, start_ms: float) -> float:
    """Share of the collection time in tasks that were launched in the first `start_ms` of their executor."""
    gc_ms = figures.columns.amounts("gc_time_ms")
    added = {heap.executor_id: heap.added_ms for heap in heaps(run) if heap.added_ms is not None}
    if not added or gc_ms.sum() <= 0:
        return 0.0
    ids = figures.columns.table["executor_id"].cast(pa.string())
    at = pc.fill_null(pc.index_in(ids, value_set=pa.array(list(added), pa.string())), -1)
    index = np.asarray(at.to_numpy(), dtype=np.int64)[figures.columns.order]
    since = np.where(index >= 0, np.array([*added.values(), 0], dtype=np.float64)[index], np.nan)
    early = figures.columns.numbers("launch_ms") - since < start_ms
    return float(gc_ms[early].sum() / gc_ms.sum())


def _evidence(run: Run, ratio: float, worst: StageTasks, early: float) -> Iterator[Evidence]:
    yield Evidence(
        f"{format_ratio(ratio)} of all executor run time was garbage collection",
        "tasks.gc_time_ms / executor_run_time_ms",
        round(ratio, 4),
        "ratio",
    )
    gc_ms, run_ms = float(worst.amounts("gc_time_ms").sum()), float(worst.run_ms().sum())
    yield Evidence(
        f"stage {worst.key[0]}: {format_ms(gc_ms)} of {format_ms(run_ms)}", "tasks.gc_time_ms", round(gc_ms), "ms"
    )
    key, size = heap_setting(run)
    fullest = max(heaps(run), key=lambda heap: heap.full_ratio or 0.0, default=None)
    if fullest is not None and fullest.peak_bytes is not None:
        yield Evidence(
            f"the heap held {format_bytes(fullest.peak_bytes)} at most, of {format_bytes(fullest.limit_bytes)} "
            f"(executor {fullest.executor_id}, {key})",
            "executors.peak_jvm_heap_bytes",
            fullest.peak_bytes,
            "bytes",
        )
    else:
        yield Evidence(
            f"the heap is {format_bytes(size)} ({key}); how full it was no event says", "conf", size, "bytes"
        )
    if early > 0.5:
        yield Evidence(
            f"{format_ratio(early)} of it in tasks that began in the first half minute of their executor",
            "tasks.launch_ms, executors.added_ms",
            round(early, 4),
            "ratio",
        )


RULE = Rule(
    code="C1",
    name="gc-pressure",
    since="0.1",
    reads=(Reads(TASKS, ("gc_time_ms", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
