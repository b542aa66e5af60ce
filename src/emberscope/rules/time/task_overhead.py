"""The tasks of a stage spent much of their time outside their own work.

## What it means
Between its launch and the moment the driver has its result, a task also waits to be started, its code is unpacked, its
result is packed, and the driver fetches that result. Here this took at least a quarter of the typical task's time.
Usual reasons are a busy driver, code that carries large objects along, and large results; the finding says which part
is the largest.

## What it costs
The time between the stage as it was and the same tasks with no more than 100 ms of this overhead each, replayed through
the rest of the application. The first task on each slot keeps its overhead, since it pays for the warm-up.

## What to do
If unpacking is the largest part: send large objects (dictionaries, models) once as broadcast variables, not inside
functions; where it used little CPU, look at whether the machines were short of CPU or fetched code over a slow network.
If packing or fetching results is: let executors write the results instead of collecting them. If waiting is: look at
what else the driver did at that time (garbage collection, other jobs, event listeners), and use fewer and longer tasks.

## When to ignore it
When the machine that runs the driver was short of CPU for another reason, or when the stage is short anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.places import Place
from emberscope.rules.price import priced
from emberscope.rules.time.partitions import users_line
from emberscope.rules.time.stage_scope import Scope, long_stages
from emberscope.rules.time.tiny_tasks import RULE as TINY_TASKS
from emberscope.rules.time.tiny_tasks import tiny
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# With less CPU time than this share of the wall time, unpacking waited for something (our proposal).
_STARVED: Final = 0.5


class Limits(Struct, frozen=True):
    """Sources: spark-advisor warns at a scheduler delay of more than 100 ms. The shares and floors are our proposal."""

    overhead_ms: float = 100.0  # overhead of the median task (spark-advisor, there of its scheduling alone)
    ratio: float = 0.25  # overhead over launch to end, of the median task (proposal)
    floor_ms: int = 10_000  # shorter stages are never reported (proposal)
    least_app_ratio: float = 0.01  # wall time of the stage over that of the application (proposal)
    least_later: int = 8  # tasks that are not the first one on their slot: those pay for its warm-up (proposal)
    least_saving: float = 0.1  # saving over the stage's wall time; less is not worth a change (proposal)


class Parts(Struct, frozen=True):
    """Where the time of each task outside of its body went, in ms."""

    waiting: NDArray[np.float64]
    unpacking: NDArray[np.float64]
    packing: NDArray[np.float64]
    fetching: NDArray[np.float64]

    @property
    def all(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = self.waiting + self.unpacking + self.packing + self.fetching
        return total

    def largest(self) -> tuple[str, float]:
        """The part with the largest sum, and that sum."""
        sums = {
            "waiting": float(self.waiting.sum()),
            "unpacking": float(self.unpacking.sum()),
            "packing": float(self.packing.sum()),
            "fetching": float(self.fetching.sum()),
        }
        name = max(sums, key=lambda part: sums[part])
        return name, sums[name]


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    # Where tasks are many and tiny, that is the reason, and another rule says so.
    others = ~tiny(figures, TINY_TASKS.limits)
    for scope in long_stages(run, least_ms=limits.floor_ms, least_ratio=limits.least_app_ratio, chosen=others):
        tasks = scope.stage.succeeded()
        tasks = tasks.where(np.arange(len(tasks)) >= scope.slots)
        if len(tasks) < max(limits.least_later, scope.slots):
            continue
        parts, durations = parts_of(tasks), np.nan_to_num(tasks.durations_ms())
        overhead_ms, median_ms = float(np.median(parts.all)), float(np.median(durations))
        if overhead_ms < limits.overhead_ms or overhead_ms < limits.ratio * median_ms:
            continue
        found = _finding(run, scope, tasks, parts, limits)
        if (found.wasted_wall_ms or 0) >= limits.least_saving * scope.wall_ms or found.wasted_wall_ms is None:
            yield found


def parts_of(tasks: StageTasks) -> Parts:
    """The parts of each task's time outside of its body; clocks that disagree make none of them negative."""
    durations = np.nan_to_num(tasks.durations_ms())
    fetching = np.nan_to_num(tasks.numbers("finish_ms") - tasks.numbers("getting_result_ms"))
    unpacking, packing = tasks.amounts("executor_deserialize_time_ms"), tasks.amounts("result_serialization_time_ms")
    fetching = np.clip(fetching, 0.0, durations)
    waiting = np.maximum(0.0, durations - tasks.run_ms() - unpacking - packing - fetching)
    return Parts(waiting, unpacking, packing, fetching)


def _finding(run: Run, scope: Scope, tasks: StageTasks, parts: Parts, limits: Limits) -> Finding:
    durations, every = np.nan_to_num(tasks.durations_ms()), scope.stage.durations_ms()
    less = np.maximum(0.0, np.minimum(parts.all, durations) - limits.overhead_ms)
    first = np.nan_to_num(every[: len(every) - len(tasks)])
    how = (
        f"Its tasks, but for the first ones of each slot, with no more than {format_ms(limits.overhead_ms)} of it each."
    )
    price = priced(run, {scope.stage.key: np.concatenate((first, durations - less))}, how)
    name, largest_ms = parts.largest()
    total_ms = float(parts.all.sum())
    words = {
        "waiting": "waiting to be started and reported",
        "unpacking": "unpacking their code",
        "packing": "packing their results",
        "fetching": "the driver fetching their results",
    }[name]
    results = tasks.amounts("result_size_bytes").sum()
    evidence = [
        Evidence(
            f"{format_ms(total_ms)} of {format_ms(float(durations.sum()))} from launch to end outside of the tasks' "
            "bodies",
            "tasks.finish_ms - tasks.launch_ms - tasks.executor_run_time_ms",
            round(total_ms / max(1.0, float(durations.sum())), 4),
            "ratio",
        ),
        Evidence(
            f"{format_ms(largest_ms)} of it {words}",
            {
                "waiting": "what the other columns leave",
                "unpacking": "tasks.executor_deserialize_time_ms",
                "packing": "tasks.result_serialization_time_ms",
                "fetching": "tasks.getting_result_ms",
            }[name],
            round(largest_ms),
            "ms",
        ),
    ]
    if name in ("packing", "fetching"):
        evidence.append(Evidence(f"results of {format_bytes(results)}", "tasks.result_size_bytes", results, "bytes"))
    return Finding(
        title=f"{scope.place.title} spent {format_ratio(total_ms / max(1.0, float(durations.sum())))} of its task time "
        f"beside its work, mostly {words}",
        summary=f"{scope.place.sentence}: the median task took {format_ms(float(np.median(durations)))}, "
        f"{format_ms(float(np.median(parts.all)))} of it outside of its body, mostly {words}.",
        where=scope.place.where,
        evidence=tuple(evidence),
        advice=tuple(_advice(name, scope.place, tasks)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(float(less.sum())) * scope.stage.cpus,
        saving_basis=price.basis,
        confidence=0.6,
    )


def _advice(name: str, place: Place, tasks: StageTasks) -> Iterator[Advice]:
    at = f" ({line})" if (line := users_line(place)) else ""
    wall_ms = float(tasks.amounts("executor_deserialize_time_ms").sum())
    cpu_ms = float(tasks.amounts("executor_deserialize_cpu_time_ns").sum()) / 1e6
    if name == "unpacking" and 0 < cpu_ms < _STARVED * wall_ms:
        yield Advice(
            "check",
            f"Unpacking used the CPU for {format_ms(cpu_ms)} only: look at whether the executors' machines were short "
            "of CPU, or fetched code (jars, large broadcast variables) over a slow network.",
        )
    elif name == "unpacking":
        yield Advice(
            "code",
            f"Send large objects that the functions of this stage{at} use once, by `sparkContext.broadcast(…)`, and do "
            "not let them be part of the functions.",
        )
    elif name in ("packing", "fetching"):
        yield Advice(
            "code",
            f"Write the result from the executors, or collect only what is needed{at}: each task's result went through "
            "the driver.",
        )
    else:
        yield Advice(
            "check",
            "See what the driver did at that time: its CPU and garbage collection in its flame graph, other jobs, and "
            "listeners. More cores for the driver help only if it needs them.",
        )


RULE = Rule(
    code="A10",
    name="task-overhead",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
