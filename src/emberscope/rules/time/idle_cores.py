"""Most of the core time that the executors offered ran no task.

## What it means
Each executor offers its cores from its registration to its removal. Here most of that time passed without a task on
them: the driver worked alone, stages had fewer tasks than there are cores, or all waited for a last long task.

## What it costs
Core time, which is money on a cluster that charges for it or that others wait for. Fewer executors do not make the
application faster; what leaves the cores idle may, and is priced by its own finding.

## What to do
If the driver or one straggler is the reason, mend that first. If stages have too few tasks, give them more partitions
(two to three per core). Else ask for fewer executors, or let Spark ask: dynamic allocation gives idle executors back.

## When to ignore it
When the cluster is yours alone and costs the same either way, or when the application has to answer at once and idle
executors are the price of that. Where the log shows an interactive session, the finding says so and has little
confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive, is_local, is_on, number_setting
from emberscope.simulate.cores import offered_core_ms
from emberscope.simulate.shares import Steps, steps
from emberscope.simulate.stage_tasks import StageKey, stage_tasks
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# The share of the time with tasks in which this many cores were enough.
_ENOUGH: Final = 0.95


@dataclass(frozen=True, slots=True)
class Limits:
    """Sources: DataFlint reports more than 50 % idle; spark-advisor warns at less than 40 % in use. The floor and the
    share are our proposal."""

    ratio: float = 0.5  # idle core time over offered core time (DataFlint)
    floor_core_ms: int = 120_000  # idle core time; a start-up of two cores is less (proposal)
    share: float = 0.5  # more than this share of the idle time in one place: that place is the reason (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    offered, pieces = offered_core_ms(run), steps(run)
    if not offered or pieces is None or pieces.cores is None:
        return
    busy = np.minimum(pieces.running, pieces.cores)
    idle = (pieces.cores - busy) * pieces.lengths_ms
    idle_ms, ratio = float(idle.sum()), float(idle.sum()) / offered
    if idle_ms < limits.floor_core_ms or ratio < limits.ratio:
        return
    alone_ms = float(idle[(pieces.jobs == 0) & (pieces.running == 0)].sum())
    by_stage = _idle_by_stage(run, pieces, idle)
    worst = max(sorted(by_stage), key=lambda key: by_stage[key], default=None)
    needed = _cores_needed(pieces)
    evidence = [
        Evidence(
            f"{format_ms(idle_ms)} of {format_ms(offered)} core time ran no task",
            "executors.cores over time, tasks.launch_ms, tasks.finish_ms",
            round(ratio, 4),
            "ratio",
        ),
        Evidence(
            f"{format_ms(alone_ms)} of it while no job was active",
            "jobs.submitted_ms, jobs.completed_ms",
            round(alone_ms),
            "ms",
        ),
    ]
    if 0 < needed < int(pieces.cores.max()):
        cores = f"{int(pieces.cores.max())} cores {'was' if needed == 1 else 'were'}"
        evidence.append(
            Evidence(
                f"{needed} of {cores} enough for {format_ratio(_ENOUGH)} of the busy time",
                "tasks.launch_ms, tasks.finish_ms",
                needed,
                "cores",
            )
        )
    interactive = is_interactive(run)
    where, reason = Where(), "no single place is to blame"
    if alone_ms > limits.share * idle_ms:
        where, reason = Where(executor="driver"), "mostly while the driver worked alone"
    elif worst is not None and by_stage[worst] > limits.share * idle_ms:
        place = place_of(places(run), worst)
        where, reason = place.where, f"mostly during {place.sentence}"
        evidence.append(
            Evidence(
                f"{format_ms(by_stage[worst])} of it while {place.title[0].lower()}{place.title[1:]} ran",
                "tasks.launch_ms, tasks.finish_ms",
                round(by_stage[worst]),
                "ms",
            )
        )
    yield Finding(
        title=f"{format_ratio(ratio)} of the core time was idle",
        summary=f"The executors offered {format_ms(offered)} of core time; for {format_ms(idle_ms)} of it a core ran "
        f"no task, {reason}."
        + (
            " This looks like an interactive session: cores that wait for a person may be wanted."
            if interactive
            else ""
        ),
        where=where,
        evidence=tuple(evidence),
        advice=tuple(_advice(run, pieces, worst if where.stage is not None else None, needed)),
        wasted_wall_ms=None,
        wasted_core_ms=round(idle_ms),
        saving_basis="Integral of the cores that ran no task over the time of the executors. It frees cores; it does "
        "not make the application faster.",
        confidence=INTERACTIVE_CONFIDENCE if interactive else 0.9,
    )


def _idle_by_stage(
    run: Run, pieces: Steps, idle: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> dict[StageKey, float]:
    """Idle core ms while tasks of each stage ran. Stages that run at one time both count it."""
    total = np.concatenate(([0.0], np.cumsum(np.where(pieces.running > 0, idle, 0.0))))
    found = {}
    for stage in stage_tasks(run):
        launched, finished = stage.numbers("launch_ms"), stage.numbers("finish_ms")
        if np.isnan(launched).all() or np.isnan(finished).all():
            continue
        at = np.interp([np.nanmin(launched), np.nanmax(finished)], pieces.edges, total)
        found[stage.key] = float(at[1] - at[0])
    return found


def _cores_needed(pieces: Steps) -> int:
    """The number of cores that was enough for `_ENOUGH` of the time in which tasks ran; 0 where none did."""
    busy = pieces.running > 0
    if not busy.any():
        return 0
    running, lengths = pieces.running[busy], pieces.lengths_ms[busy]
    order = np.argsort(running, kind="stable")
    passed = np.cumsum(lengths[order])
    return int(running[order][np.searchsorted(passed, _ENOUGH * passed[-1])])


def _cores(count: int) -> str:
    return "1 core was" if count == 1 else f"{count} cores were"


def _advice(run: Run, pieces: Steps, stage: StageKey | None, needed: int) -> Iterator[Advice]:
    cores = int(pieces.cores.max()) if pieces.cores is not None else 0
    count = next((len(one) for one in stage_tasks(run) if one.key == stage), None)
    if count is not None and count < cores:
        partitions = math.ceil(2.5 * cores)
        yield set_conf(
            "spark.sql.shuffle.partitions",
            partitions,
            f"The stage has {count} task{'' if count == 1 else 's'} for {cores} cores; two to three tasks per core "
            "keep all of them busy. For a stage that reads files, repartition or write smaller files.",
        )
    if is_local(run):
        if 0 < needed < cores:
            yield Advice("cluster", f"Ask for local[{needed}] in place of {cores} slots.")
        return
    per_executor = max(1, int(number_setting(run, "spark.executor.cores", 1)))
    executors = max(1, math.ceil(needed / per_executor))
    if is_on(run, "spark.dynamicAllocation.enabled", default=False):
        yield set_conf(
            "spark.dynamicAllocation.maxExecutors",
            executors,
            f"{_cores(needed)} enough for {format_ratio(_ENOUGH)} of the time with tasks.",
        )
        yield set_conf("spark.dynamicAllocation.executorIdleTimeout", "30s", "Gives idle executors back sooner.")
        return
    if executors * per_executor < cores:
        yield set_conf(
            "spark.executor.instances",
            executors,
            f"{_cores(needed)} enough for {format_ratio(_ENOUGH)} of the time with tasks; there were {cores}.",
        )
    yield set_conf(
        "spark.dynamicAllocation.enabled",
        "true",
        "Or let Spark ask for executors as it needs them; this needs spark.shuffle.service.enabled or "
        "spark.dynamicAllocation.shuffleTracking.enabled.",
    )


RULE = Rule(
    code="A2",
    name="idle-cores",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms")), Reads(STAGES), Reads(JOBS), Reads(EXECUTORS, ("cores",))),
    limits=Limits(),
    check=check,
    needs_times=True,
)
