"""Tasks waited for each other at a lock.

## What it means
Tasks of one executor are threads of one JVM. Where their code enters a synchronized block or method, or takes a lock,
that all of them share (a static cache, a singleton client, a pool of one connection), only one of them goes on and the
others stand still. More cores in an executor make it worse, not better.

## What it costs
How long tasks waited to get in, as Flight Recorder measured it, taken off the tasks before the schedule is replayed.
Waits shorter than the recorder's threshold (20 ms unless it was set) are not in it.

## What to do
Give each task or thread what it needs for itself: one object for each partition (mapPartitions), a ThreadLocal, a pool
with as many entries as the executor has cores. Hold the lock only for the moment that needs it, never during a request
or a computation. Use a ConcurrentHashMap, atomics or an immutable copy (a broadcast) in place of a synchronized cache.
Until that is done, use executors with fewer cores: then fewer tasks share a lock.

## When to ignore it
When the lock protects something that only one can do at a time anyway, such as a device or a quota of a service; then
give that step to fewer tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.settings import is_local, number_setting
from emberscope.rules.stacks.finding import READS, Words, asker, finding_of, short, worth_telling
from emberscope.rules.stacks.finding import Limits as HotSpotLimits
from emberscope.rules.stacks.hot_spots import Spot, frame_words, spots
from emberscope.rules.stacks.marking import NONE, marks
from emberscope.rules.stacks.patterns import PATTERNS
from emberscope.rules.stacks.task_samples import TaskSamples, task_samples
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(HotSpotLimits, frozen=True):
    """No tool that was read prices locks of Spark's tasks: all values are our proposal. A wait is measured, not
    sampled, so its share needs no number of samples."""

    ratio: float = 0.1  # waits over the task time of the stage
    waits: int = 10  # in the user's code; fewer are chance
    spark_waits: int = 100  # in Spark's code and its libraries, where some are usual when an executor starts


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    samples = task_samples(run) if {"samples", "stacks", "frames"} <= run.tables.keys() else None
    if samples is None:
        return
    found = marks(run)
    number = found.pattern[samples.node]
    told = np.array([*(pattern.waits for pattern in PATTERNS), False])[number]
    rows = np.flatnonzero(samples.lock & ~told)
    # Each stack stands for itself here: who waits is nearest to its leaf.
    leaves = replace(
        found, entry=np.arange(len(found.entry), dtype=np.int32), pattern=np.full_like(found.pattern, NONE)
    )
    kept = [
        spot
        for spot in worth_telling(run, spots(run, samples, leaves, rows), limits)
        if spot.events >= (limits.waits if spot.callers[0].own else limits.spark_waits)
    ]
    if not kept or sum(spot.ms for spot in kept) < limits.floor_ms:
        return
    words = Words(
        "waiting for a lock", 0.9, "the waits of each task taken off, as if all of them could go on at once.", _advice
    )
    yield finding_of(run, kept, words, tuple(_evidence(run, samples, kept[0], rows)))


def _evidence(run: Run, samples: TaskSamples, spot: Spot, rows: NDArray[np.int64]) -> Iterator[Evidence]:
    mine = rows[samples.stage[rows] == samples.keys.index(spot.key)]
    by_class: dict[str, float] = {}
    for name, ms in zip(samples.lock_class.take(mine).to_pylist(), samples.ms[mine].tolist(), strict=True):
        by_class[name or "an unknown class"] = by_class.get(name or "an unknown class", 0.0) + ms
    name, ms = max(by_class.items(), key=lambda item: (item[1], item[0]))
    yield Evidence(
        f"{format_count(len(mine))} waits of {format_count(len(spot.lock_of))} tasks, {format_ratio(ms / spot.ms)} of "
        f"their time for a lock of {name}; the longest took {format_ms(float(samples.ms[mine].max()))}",
        "samples (lock), samples.object_class",
        len(mine),
        "waits",
    )
    yield from _holder(run, samples, spot, mine)


def _holder(run: Run, samples: TaskSamples, spot: Spot, mine: NDArray[np.int64]) -> Iterator[Evidence]:
    """What the task does that is inside: CPU samples of the stage under the method that the others wait to enter."""
    names, _, _ = frame_words(run)
    found = marks(run)
    doors = np.unique(found.frames[samples.node[mine]])
    there = np.flatnonzero(samples.working & ~samples.unseen & (samples.stage == samples.keys.index(spot.key)))
    inside: Counter[str] = Counter()
    for node, count in zip(*np.unique(samples.node[there], return_counts=True), strict=True):
        at = int(node)
        while at > 0 and found.frames[at] not in doors:
            at = int(found.parents[at])
        if at > 0:
            inside[names[found.frames[int(node)]]] += int(count)
    if inside:
        leaf, count = max(inside.items(), key=lambda item: (item[1], item[0]))
        yield Evidence(
            f"{format_count(sum(inside.values()))} CPU samples of the stage are inside of what the others wait for, "
            f"most of them in {short(leaf)} ({format_count(count)})",
            "samples (cpu)",
            count,
            "samples",
            frames=(names[int(doors[0])], leaf) if leaf != names[int(doors[0])] else (leaf,),
        )


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Do not share what {asker(spots)} locks among all tasks of an executor: one object for each partition or "
        "thread, a pool as large as the executor has cores, or a concurrent or broadcast copy; hold the lock only for "
        "the moment that it is needed.",
    )
    cores = int(number_setting(run, "spark.executor.cores", 1))
    if cores > 1 and not is_local(run):
        yield Advice(
            "cluster",
            "Until the code is changed: a lock is shared by the tasks of one executor, so more executors with "
            f"{max(1, cores // 2)} in place of {cores} cores each, with their memory divided in the same way, wait "
            "less.",
        )


RULE = Rule(code="S12", name="lock-contention", since="0.1", reads=READS, limits=Limits(), check=check)
