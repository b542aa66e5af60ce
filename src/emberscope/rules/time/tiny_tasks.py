"""A stage was cut into so many small tasks that starting them cost more than it gained.

## What it means
Each task has to be scheduled, sent, unpacked and reported: some milliseconds, whatever it does. Here a stage had at
least 1,000 tasks, many for each slot (a slot is what one task occupies), and its median task ran for less than half a
second.

## What it costs
The time between the stage as it was and the same work in fewer even tasks of about a second each, replayed through the
rest of the application. Time in which slots waited because the driver could not start tasks fast enough is not counted,
so the price is rather too low.

## What to do
Ask for fewer partitions. The advice names the setting, with a value from this run, or the line of the program. After a
shuffle, adaptive execution merges small partitions by itself where it is on. Where each task reads one small file,
write the table anew in fewer and larger files.

## When to ignore it
When the same code has to run on far larger data too, and the price here is small; or when small tasks are wanted
because each holds something scarce, such as a connection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule
from emberscope.rules.price import priced
from emberscope.rules.time.partitions import fewer_partitions
from emberscope.rules.time.stage_scope import Scope, long_stages
from emberscope.simulate.stage_figures import StageFigures, stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: DataFlint reports stages of more than 5,000 tasks with a median below 500 ms. We ask for fewer tasks,
    since the price says how much it matters; what names no tool is our proposal."""

    median_ms: float = 500.0  # time in the body of the median task (DataFlint)
    least_tasks: int = 1_000  # with fewer, the start of tasks costs a second or two at most (proposal)
    tasks_per_slot: float = 20.0  # fewer than this per slot are never too many (proposal)
    floor_ms: int = 5_000  # shorter stages are never reported (proposal)
    least_app_ratio: float = 0.01  # wall time of the stage over that of the application (proposal)
    least_saving: float = 0.1  # saving over the stage's wall time; less is not worth a change (proposal)
    task_ms: float = 1_000.0  # what is advised: tasks of about this length, and three per slot at least (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    for scope in long_stages(
        run, least_ms=limits.floor_ms, least_ratio=limits.least_app_ratio, chosen=tiny(figures, limits)
    ):
        if len(scope.stage) < limits.tasks_per_slot * scope.slots:
            continue
        found = _finding(run, scope, limits)
        if (found.wasted_wall_ms or 0) >= limits.least_saving * scope.wall_ms or found.wasted_wall_ms is None:
            yield found


def tiny(figures: StageFigures, limits: Limits) -> NDArray[np.bool_]:
    """At which stage attempts the tasks are many and short."""
    divisors = np.array([stage.run_time_divisor for stage in figures.stages])
    short: NDArray[np.bool_] = figures.median("executor_run_time_ms") / divisors < limits.median_ms
    return short & (figures.counts >= limits.least_tasks)


def _finding(run: Run, scope: Scope, limits: Limits) -> Finding:
    tasks = scope.stage.succeeded()
    run_ms, durations = tasks.run_ms(), tasks.durations_ms()
    total_ms, median_ms = float(run_ms.sum()), float(np.median(run_ms))
    overhead_ms = float(np.nansum(np.maximum(durations - run_ms, 0.0)))
    count = max(3 * scope.slots, math.ceil(total_ms / limits.task_ms))
    count = min(count, max(1, len(scope.stage) // 2))
    price = priced(run, {scope.stage.key: scope.spread(count)}, f"Its work in {count} even tasks.")
    return Finding(
        title=f"{scope.place.title} has {format_count(scope.task_count)} tasks of {format_ms(median_ms)} each",
        summary=f"{scope.place.sentence}: {scope.task_count:,} tasks for {scope.slots} slots, each busy for "
        f"{format_ms(median_ms)} (median); starting and ending them took {format_ms(overhead_ms)} of task time, their "
        f"work {format_ms(total_ms)}.",
        where=scope.place.where,
        evidence=(
            Evidence(f"{scope.task_count:,} tasks", "stages.task_count", scope.task_count, "tasks"),
            Evidence(
                f"median time in the task's body {format_ms(median_ms)}",
                "tasks.executor_run_time_ms",
                round(median_ms),
                "ms",
            ),
            Evidence(
                f"{format_ms(overhead_ms)} between launch and end outside of the tasks' bodies",
                "tasks.finish_ms - tasks.launch_ms - tasks.executor_run_time_ms",
                round(overhead_ms),
                "ms",
            ),
        ),
        advice=tuple(fewer_partitions(run, scope, count)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(overhead_ms * max(0.0, 1 - count / len(scope.stage))) * scope.stage.cpus,
        saving_basis=price.basis,
        confidence=0.8,
    )


RULE = Rule(
    code="A7",
    name="tiny-tasks",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
