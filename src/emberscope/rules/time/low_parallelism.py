"""A long stage had fewer tasks than the cluster has slots.

## What it means
A task is the smallest piece of work that Spark hands out. A stage of two tasks runs on two slots (a slot is what one
task occupies: one core, or several), however large the cluster is; the others have nothing to do until it is over.
The number of tasks comes from the number of partitions: of the shuffle that the stage reads, of the files, or of
what the program asked for.

## What it costs
The time between the stage as it was and the same work in three even tasks per slot, replayed through the rest of the
application. A stage that shared the cluster with others is not reported.

## What to do
Give the stage more partitions. The advice names the setting, with a value from this run, or the line of the program.
Where files cannot be split (gzip), repartition the rows right after reading them.

## When to ignore it
When the number of tasks has a reason outside Spark, such as a database that accepts no more connections, or when the
price is small because the stage is short.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule
from emberscope.rules.price import priced
from emberscope.rules.time.partitions import more_partitions
from emberscope.rules.time.stage_scope import Scope, barriers, long_stages, most_parts
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: Sparklens calls fewer tasks than cores its lowest class (PRatio below 1). The advice of two to three
    tasks per core is that of Spark's tuning guide. What names no tool is our proposal."""

    ratio: float = 1.0  # tasks per slot (Sparklens)
    floor_ms: int = 10_000  # shorter stages are never reported (proposal)
    least_app_ratio: float = 0.01  # wall time of the stage over that of the application (proposal)
    tasks_per_slot: int = 3  # what is advised (Spark's tuning guide)
    least_saving: float = 0.1  # saving over the stage's wall time; less is not worth a change (proposal)
    straggler_ratio: float = 5.0  # from this longest task over the median on, the stage is skewed: see B1


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    several = figures.counts >= 2
    for scope in long_stages(run, least_ms=limits.floor_ms, least_ratio=limits.least_app_ratio, chosen=several):
        if not 2 <= scope.task_count < limits.ratio * scope.slots or scope.stage.key in barriers(run):
            continue
        run_ms = scope.stage.succeeded().run_ms()
        median_ms = float(np.median(run_ms)) if len(run_ms) else 0.0
        if not len(run_ms) or (len(run_ms) >= 4 and run_ms.max() >= limits.straggler_ratio * median_ms):
            continue
        count = round(min(limits.tasks_per_slot * scope.slots, most_parts(run, scope)))
        if count <= scope.task_count:
            continue
        found = _finding(run, scope, count)
        if (found.wasted_wall_ms or 0) >= limits.least_saving * scope.wall_ms or found.wasted_wall_ms is None:
            yield found


def _finding(run: Run, scope: Scope, count: int) -> Finding:
    price = priced(run, {scope.stage.key: scope.spread(count)}, f"Its work in {count} even tasks.")
    durations = scope.stage.durations_ms()
    busy_ms = float(np.nansum(durations))
    idle_ms = max(0, round(scope.slots * float(np.nanmax(durations, initial=0.0)) - busy_ms)) * scope.stage.cpus
    return Finding(
        title=f"{scope.place.title} ran {scope.task_count} tasks where {scope.slots} could run",
        summary=f"{scope.place.sentence} took {format_ms(scope.wall_ms)} with {scope.task_count} tasks on "
        f"{scope.slots} slots: {scope.slots - scope.task_count} of them had nothing to do.",
        where=scope.place.where,
        evidence=(
            Evidence(f"{scope.task_count} tasks", "stages.task_count", scope.task_count, "tasks"),
            Evidence(
                f"{scope.slots} slots" + (f" of {scope.stage.cpus} cores each" if scope.stage.cpus > 1 else ""),
                "executors.cores while the stage ran, spark.task.cpus",
                scope.slots,
                "slots",
            ),
            Evidence(
                f"the tasks ran {format_ms(busy_ms)} in all",
                "tasks.launch_ms, tasks.finish_ms",
                round(busy_ms),
                "ms",
            ),
        ),
        advice=tuple(more_partitions(run, scope, count)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=idle_ms,
        saving_basis=price.basis,
        confidence=0.8,
    )


RULE = Rule(
    code="A5",
    name="low-parallelism",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
