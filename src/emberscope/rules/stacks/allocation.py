"""One place in the code allocates a large part of what garbage collection has to clear away.

## What it means
Tasks of the stage stood still for garbage collection, and the recorder's allocation samples say where the memory went:
to one method, with what it allocates. Many short-lived objects (boxed numbers, strings, copies of arrays, rows as
objects) make collections frequent; large ones that stay make each of them long.

## What it costs
The collection time of the stage above a healthy 5 %, in proportion to that method's share of the allocated bytes, taken
off the tasks before the schedule is replayed.

## What to do
Allocate less there: use a buffer again, keep numbers plain, build strings once, stream in place of collecting a list,
or write the step with DataFrame expressions, which work on bytes without objects. More memory makes collections rarer
but not shorter.

## When to ignore it
When the heap is full of data that stay (a cache, a large broadcast): then the size of the heap matters, not the
allocation; see C1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.stacks.finding import READS, lower_share, method, short
from emberscope.rules.stacks.hot_spots import Caller, callers
from emberscope.rules.stacks.marking import NONE, marks
from emberscope.rules.stacks.task_samples import having, numbers
from emberscope.simulate.stage_tasks import StageTasks, stage_tasks
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """The shares of collection are those of rule C1 (Kubeflow's tools report from 10 %, Dr. Elephant calls less than
    5 % low); the rest is our proposal."""

    gc_ratio: float = 0.10  # collection over run time of the stage
    healthy_ratio: float = 0.05  # what a stage may spend; only more is priced
    floor_ms: int = 5_000  # collection time in the stage; less is start-up
    samples: int = 50  # allocation samples of the stage
    share: float = 0.3  # of the bytes that its samples stand for, at one caller


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    if not {"samples", "stacks", "frames"} <= run.tables.keys():
        return
    for stage in stage_tasks(run):
        gc_ms, run_ms = float(stage.amounts("gc_time_ms").sum()), float(stage.run_ms().sum())
        if gc_ms >= limits.floor_ms and gc_ms >= limits.gc_ratio * run_ms > 0:
            yield from _finding(run, stage, gc_ms, run_ms, limits)


def _finding(run: Run, stage: StageTasks, gc_ms: float, run_ms: float, limits: Limits) -> Iterator[Finding]:
    samples = run.tables["samples"]
    rows = np.flatnonzero(
        having(samples, "event", "alloc")
        & (numbers(samples, "stage_id", -1) == stage.key[0])
        & (numbers(samples, "stage_attempt", -1) == stage.key[1])
    )
    if len(rows) < limits.samples:
        return
    found = marks(run)
    leaves = type(found)(
        np.full_like(found.pattern, NONE), np.arange(len(found.parents), dtype=np.int32), found.parents, found.frames
    )
    sizes = samples["value"].cast(pa.float64()).fill_null(0).to_numpy()[rows]
    nodes = samples["stack"].fill_null(0).to_numpy()[rows].astype(np.int64)
    whole = float(sizes.sum())
    asked = callers(run, leaves, nodes, sizes)
    if not asked or whole <= 0 or asked[0].ms < limits.share * whole:
        return
    caller, share = asked[0], asked[0].ms / whole
    excess = np.maximum(0.0, stage.amounts("gc_time_ms") - limits.healthy_ratio * stage.run_ms()) * share
    durations = stage.durations_ms()
    shorter = np.maximum(0.0, durations - excess)[~np.isnan(durations)]
    how = f"Collection above {format_ratio(limits.healthy_ratio)} of each task, in proportion to the bytes, taken off."
    price = priced(run, {stage.key: shorter}, how)
    place = place_of(places(run), stage.key)
    classes = samples["object_class"].cast("string").combine_chunks().take(pa.array(rows)).to_pylist()
    yield Finding(
        title=f"{place.title}: {format_ratio(share)} of the garbage comes from {method(caller)}",
        summary=f"{place.sentence}: tasks stood still for garbage collection for {format_ms(gc_ms)}, "
        f"{format_ratio(gc_ms / run_ms)} of their time, and {method(caller)} allocates {format_ratio(share)} of the "
        "bytes.",
        where=place.where,
        evidence=tuple(_evidence(caller, share, whole, sizes, classes)),
        advice=(
            Advice(
                "code",
                f"Allocate less in {method(caller)}: use buffers again, keep numbers plain, build texts once, stream "
                "in place of collecting; or write the step with DataFrame expressions.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(float(excess.sum())),
        saving_basis=price.basis,
        confidence=0.6 * lower_share(round(share * len(rows)), len(rows)) / share,
    )


def _evidence(
    caller: Caller, share: float, whole: float, sizes: NDArray[np.float64], classes: list[str]
) -> Iterator[Evidence]:
    yield Evidence(
        f"{format_bytes(caller.ms)} of {format_bytes(whole)} that {len(sizes)} allocation samples stand for",
        "samples (alloc)",
        round(share, 4),
        "ratio",
    )
    by_class: dict[str, float] = {}
    for name, size in zip(classes, sizes.tolist(), strict=True):
        by_class[name or "?"] = by_class.get(name or "?", 0.0) + size
    name, size = max(by_class.items(), key=lambda item: (item[1], item[0]))
    yield Evidence(f"most of the stage's bytes are {name}: {format_ratio(size / whole)}", "samples.object_class")
    stack = caller.stack if len(caller.stack) <= 4 else (caller.stack[0], *caller.stack[-3:])
    yield Evidence(
        f"stack that allocates most: {' → '.join(map(short, stack))}", "samples.stack", frames=caller.stack[:12]
    )


RULE = Rule(code="S18", name="allocation-site", since="0.1", reads=READS, limits=Limits(), check=check)
