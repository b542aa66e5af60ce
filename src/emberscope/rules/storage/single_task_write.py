"""One single task wrote the whole output, while all other cores had nothing to do.

## What it means
`coalesce(1)` and `repartition(1)` before a write give one file, written by one task. Without a shuffle in between,
`coalesce(1)` takes even the computation before the write into that task. A `limit`, a window or an aggregate without
keys, or a last shuffle whose few rows adaptive execution merged into one partition, look the same.

## What it costs
The application replayed with the work of that task spread over all cores where `coalesce(1)` was the reason, and
otherwise over as many tasks as have five seconds of it each. It ends later than that where the work cannot be spread
evenly.

## What to do
Let all tasks write, each its own file, and let readers read the directory: leave out the `coalesce` or `repartition`,
or use the number in the advice. If one file has to be delivered, write the directory first and join its files
afterwards, in a step that only copies. If only the number of files matters, `repartition(n)` keeps the computation
before it parallel, which `coalesce(n)` does not.

## When to ignore it
When exactly one file is asked for, and the work of the task is little more than copying the bytes. Single tasks that do
not write are reported by single-task (A6).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import long_stages
from emberscope.rules.places import Place, place_of, places
from emberscope.rules.plans import Node, plans
from emberscope.rules.price import priced
from emberscope.rules.shuffle.partitions import most_cores
from emberscope.rules.storage.files import TARGET_BYTES
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

_ONE: Final = re.compile(r"^Coalesce 1$|^Exchange (SinglePartition|RoundRobinPartitioning\(1\))")
_WORK_MS: Final = 5_000.0  # what a task should have to do, so that its file is worth one (our proposal)
_TASK_MS: Final = 50.0  # what one more task costs in start and end (our proposal)


class Limits(Struct, frozen=True):
    """Compass reports a single task that reads more than 50 million records for 20 minutes, or more than 30 % of the
    application. We begin where the time is worth a change; all values are our proposal."""

    floor_ms: int = 5_000  # run time of the task
    app_ratio: float = 0.01  # and its share of the application
    least_cores: int = 2  # on one core nothing can be spread


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures, cores = stage_figures(run), most_cores(run)
    if figures is None or cores < limits.least_cores:
        return
    least_ms = max(limits.floor_ms, limits.app_ratio * (run.application.observed_ms or 0))
    mask = (figures.run_ms() >= least_ms) & (figures.total("output_bytes") + figures.total("output_records") > 0)
    known = places(run)
    writes: dict[str, list[StageTasks]] = {}
    for index in np.flatnonzero(mask & long_stages(run, figures)).tolist():
        stage = figures.stages[index]
        done, place = stage.succeeded(), place_of(known, stage.key)
        if len(done) == 1 and place.task_count in (1, None) and done.run_ms()[0] >= least_ms:
            writes.setdefault(place.call_site, []).append(done)
    for stages in writes.values():
        yield _finding(run, stages, cores)


def _finding(run: Run, stages: Sequence[StageTasks], cores: int) -> Finding:
    """The stages of one call site: a loop that writes is one thing to change."""
    done = max(stages, key=lambda stage: (float(stage.run_ms()[0]), stage.key))
    place = place_of(places(run), done.key)
    run_ms, size = float(done.run_ms()[0]), float(done.amounts("output_bytes")[0])
    total_ms = sum(float(stage.run_ms()[0]) for stage in stages)
    cause = _single(run, place)
    parts = _parts(cause, cores, size, run_ms)
    price = priced(
        run,
        {stage.key: np.full(parts, _length_ms(stage) / parts + _TASK_MS) for stage in stages},
        f"The work of the task spread over {parts} tasks, {_TASK_MS:.0f} ms more for each.",
    )
    how = {"Coalesce": "`coalesce(1)` asked for it", "Exchange": "a shuffle into one partition came before it"}
    why = how[cause.name] if cause is not None else "all its rows were in one partition"
    evidence = [
        Evidence(
            f"one task ran {format_ms(run_ms)} and wrote {format_bytes(size)}",
            "tasks.executor_run_time_ms, tasks.output_bytes",
            round(run_ms),
            "ms",
        ),
        Evidence(f"the executors had {cores} cores", "executors.cores", cores, "cores"),
    ]
    if cause is not None:
        evidence.append(Evidence(f"the plan has {cause.plain_detail[:80]}", "plan_nodes.detail"))
    if len(stages) > 1:
        numbers = ", ".join(str(stage.key[0]) for stage in stages[:12])
        evidence.append(
            Evidence(
                f"{len(stages)} stages of this call site did so, {format_ms(total_ms)} in all: {numbers}"
                + (" and others" if len(stages) > 12 else ""),
                "tasks.executor_run_time_ms",
                round(total_ms),
                "ms",
            )
        )
    return Finding(
        title=f"{place.title} wrote its whole output with one task"
        if len(stages) == 1
        else f"{len(stages)} stages wrote their whole output with one task each",
        summary=f"{place.sentence}: a single task of {format_ms(run_ms)} wrote {format_bytes(size)} while "
        f"{format_count(cores - 1)} other {'core' if cores == 2 else 'cores'} had no part in it; {why}."
        + (f" {len(stages) - 1} more did the same." if len(stages) > 1 else ""),
        where=place.where,
        evidence=tuple(evidence),
        advice=tuple(_advice(cause, parts, size)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round((cores - 1) * total_ms),
        saving_basis=price.basis,
        confidence=0.85 if cause is not None else 0.6,
    )


def _parts(cause: Node | None, cores: int, size: float, run_ms: float) -> int:
    """How many tasks should do the work: all cores where leaving out a `coalesce` gives it back to the tasks before
    it; else only so many that each has some seconds of work, and files that are not too small."""
    files = math.ceil(size / TARGET_BYTES)
    if cause is not None and cause.name == "Coalesce":
        return max(cores, files, 2)
    return max(2, files, min(cores, math.ceil(run_ms / _WORK_MS)))


def _length_ms(stage: StageTasks) -> float:
    """Launch to end of the only task, or its run time where that is not known."""
    length = float(stage.durations_ms()[0])
    return float(stage.run_ms()[0]) if math.isnan(length) else length


def _single(run: Run, place: Place) -> Node | None:
    """The operator of the stage's execution that brought all rows into one task, the one nearest to the write."""
    plan = plans(run).get(place.where.sql) if place.where.sql is not None else None
    if plan is None:
        return None
    mine = (
        node
        for node in plan.named("Coalesce", "Exchange")
        if _ONE.match(node.detail) and (not node.stage_ids or place.where.stage in node.stage_ids)
    )
    return next(mine, None)


def _advice(cause: Node | None, count: int, size: float) -> Iterator[Advice]:
    files = max(1, math.ceil(size / TARGET_BYTES))
    if cause is not None and cause.name == "Coalesce":
        yield Advice(
            "code",
            f"Leave out `.coalesce(1)` before the write, so that every task writes its own file; to have fewer files, "
            f"`.repartition({files})` does not slow down what comes before it.",
        )
    elif cause is not None and "RoundRobin" not in cause.detail and "REPARTITION" not in cause.detail:
        yield Advice(
            "code",
            "A limit, or an aggregate or a window without keys, brings all rows into one task: leave it out before the "
            "write, or give the aggregate or the window keys.",
        )
    else:
        yield Advice(
            "code", f"Use `.repartition({count})` before the write in place of one partition, or leave it out."
        )
    yield Advice(
        "code",
        "If one file has to be delivered, write the directory with all tasks and join its files afterwards, in a step "
        "that only copies.",
    )


RULE = Rule(
    code="E10",
    name="single-task-write",
    since="0.1",
    reads=(Reads(TASKS, ("executor_run_time_ms", "output_bytes")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
