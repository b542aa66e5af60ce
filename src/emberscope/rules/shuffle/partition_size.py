"""Shuffle partitions are far larger than they should be.

## What it means
Each task of the stage read one partition of a shuffle. The average partition is at least three times the 128 MiB that
it should have, or the largest holds 5 GB or more. Large partitions need much memory at one time, a task that fails has
much to do again, and the last wave of few long tasks leaves cores idle.

## What it costs
The application replayed with the same work cut into the number of partitions that is advised, with a little more time
for each additional task. Where tasks fill all cores to the end nothing is saved, and this rule is silent. The memory
that becomes free is not counted.

## What to do
Set the number of partitions in the advice: it is computed from the bytes of this shuffle, and rounded up so that the
last wave fills all cores. With adaptive execution set the advisory size as advised too, otherwise small partitions are
merged again.

## When to ignore it
When the stage is hidden behind others and memory is plentiful. The rule is silent where others know more: where tasks
spilled (spill, C3), where one partition is much larger than the others (skewed-stage, B1), and where a single task did
everything (A6, E10). Too many or too small partitions are reported by tiny-tasks (A7), tiny blocks by tiny-blocks (D6).
Where there are also fewer tasks than cores, low-parallelism (A5) is listed under this finding: the number given here
mends both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Consequence, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import long_stages, ratios
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.shuffle.blocks import fetched_bytes
from emberscope.rules.shuffle.partitions import (
    MOST_PARTITIONS,
    TARGET_BYTES,
    in_whole_waves,
    more_partitions,
    most_cores,
)
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: spark-advisor takes a partition number off the best one by more than 3 times for a fault; DataFlint
    warns of partitions above 5 GB; the RAPIDS tools aim at 128 MB. The other values are our proposal."""

    times: float = 3.0  # mean partition over 128 MiB (spark-advisor)
    huge_bytes: int = 5_000_000_000  # a partition that the next larger input may not survive (DataFlint)
    spilled_bytes: int = 100_000_000  # from this spill on C3 speaks (as in C3)
    skew: float = 3.0  # largest over mean partition: skew, where more partitions may not help (RAPIDS tools)
    least_ratio: float = (
        0.2  # what the replay saves, of the stage: tasks that fill all cores are left in peace (proposal)
    )
    task_ms: float = 50.0  # what one more task costs in start and end (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    sizes = fetched_bytes(figures)
    means = ratios(sizes, figures.counts.astype(np.float64))
    most = np.nan_to_num(figures.most("shuffle_read_local_bytes")) + np.nan_to_num(
        figures.most("shuffle_read_remote_bytes")
    )
    mask = (means >= limits.times * TARGET_BYTES) | (most >= limits.huge_bytes)
    mask &= long_stages(run, figures) & (figures.total("disk_spilled_bytes") < limits.spilled_bytes)
    known, cores = places(run), most_cores(run)
    for index in np.flatnonzero(mask).tolist():
        stage, size = figures.stages[index].succeeded(), float(sizes[index])
        if len(stage) < 2:
            continue
        partitions = stage.shuffle_read_bytes()
        mean, largest = float(partitions.mean()), float(partitions.max())
        if largest > limits.skew * mean or (mean < limits.times * TARGET_BYTES and largest < limits.huge_bytes):
            continue
        place = place_of(known, stage.key)
        count = in_whole_waves(math.ceil(float(partitions.sum()) / TARGET_BYTES), cores)
        price = priced(
            run,
            {stage.key: _cut(stage, min(count, MOST_PARTITIONS), limits.task_ms)},
            f"The stage's work cut into {count} tasks, {limits.task_ms:.0f} ms more for each.",
        )
        if not price.wall_ms or price.wall_ms < limits.least_ratio * figures.wall_ms[index]:
            continue
        risk: Consequence | None = "risk" if largest >= limits.huge_bytes else None
        yield Finding(
            title=f"{place.title} read shuffle partitions of {format_bytes(mean)}",
            summary=f"{place.sentence}: {format_count(len(stage))} tasks read {format_bytes(size)} of shuffle data, "
            f"{format_bytes(mean)} each; {count} partitions would hold {format_bytes(size / count)}.",
            where=place.where,
            evidence=(
                Evidence(
                    f"mean partition {format_bytes(mean)}, largest {format_bytes(largest)}, "
                    f"{format_count(len(stage))} partitions",
                    "tasks.shuffle_read_local_bytes + shuffle_read_remote_bytes",
                    round(mean),
                    "bytes",
                ),
            ),
            advice=tuple(more_partitions(run, place, count, size / count)),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=None,
            saving_basis=price.basis,
            confidence=0.6,
            consequence=risk,
        )


def _cut(stage: StageTasks, count: int, task_ms: float) -> NDArray[np.float64]:
    """Durations of `count` tasks that share the stage's work evenly."""
    durations = stage.durations_ms()
    work = float(np.nansum(durations)) + task_ms * max(0, count - len(stage))
    return np.full(count, work / count)


RULE = Rule(
    code="D3",
    name="partition-size",
    since="0.1",
    reads=(Reads(TASKS, ("shuffle_read_local_bytes", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
