"""Most of the core time that the executors offered ran no task.

## What it means
Each executor offers its cores from its registration to its removal. Here most of that core time, without the start of
the application, passed with no task on it: the driver worked alone, stages had fewer tasks than there are cores, or all
waited for a last long task. A task for which Spark reserves several cores (`spark.task.cpus`) counts as keeping all of
them busy.

## What it costs
Core time: money on a cluster that charges for it, or cores that others wait for. Fewer executors do not make the
application faster. Mending what leaves the cores idle may; that has a finding and a price of its own.

## What to do
If the driver, one straggler or a stage of few tasks is the reason, mend that first; it has a finding of its own.
Otherwise ask for fewer executors: the advice gives the number with which the application would take at most 5 % longer.
Or let Spark decide: dynamic allocation gives idle executors back.

## When to ignore it
When the cluster is yours alone and costs the same either way, or when idle executors are the price of answering at
once. Where the log shows an interactive session, the finding says so and has low confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive, is_local, is_on, is_standalone
from emberscope.rules.time.start_up import started_ms
from emberscope.settings.catalog import setting_of
from emberscope.settings.values import number_of
from emberscope.simulate.shares import Steps, steps
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_IDLE_TIMEOUT = "spark.dynamicAllocation.executorIdleTimeout"
_SOONER_SECONDS = 30


class Limits(Struct, frozen=True):
    """Sources: DataFlint reports more than 50 % idle; spark-advisor warns at less than 40 % in use. The floor and the
    share are our proposal."""

    ratio: float = 0.5  # idle core time over offered core time (DataFlint)
    floor_core_ms: int = 120_000  # idle core time; a start-up of two cores is less (proposal)
    share: float = 0.5  # more than this share of the idle time in one place: that place is the reason (proposal)
    slower: float = 0.05  # so much longer the application may take with the fewer cores that are advised (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    pieces = steps(run)
    if pieces is None or pieces.cores is None:
        return
    begun = pieces.edges[:-1] >= started_ms(run, pieces)
    busy = np.minimum(pieces.occupied, pieces.cores)
    idle = np.where(begun, (pieces.cores - busy) * pieces.lengths_ms, 0.0)
    offered = float((pieces.cores * pieces.lengths_ms)[begun].sum())
    if offered <= 0:
        return
    idle_ms, ratio = float(idle.sum()), float(idle.sum()) / offered
    if idle_ms < limits.floor_core_ms or ratio < limits.ratio:
        return
    alone_ms = float(idle[(pieces.jobs == 0) & (pieces.running == 0)].sum())
    by_stage = _idle_by_stage(run, pieces, idle)
    worst = max(sorted(by_stage), key=lambda key: by_stage[key], default=None)
    needed = _cores_needed(pieces, limits.slower * float(pieces.edges[-1] - pieces.edges[0]))
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
        evidence.append(
            Evidence(
                f"{needed} of {int(pieces.cores.max())} cores would do: at most {format_ratio(limits.slower)} slower",
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
        advice=tuple(_advice(run, pieces, where, needed, limits)),
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
    figures = stage_figures(run)
    if figures is None:
        return {}
    total = np.concatenate(([0.0], np.cumsum(np.where(pieces.running > 0, idle, 0.0))))
    launched, finished = figures.least("launch_ms"), figures.most("finish_ms")
    during = np.interp(finished, pieces.edges, total) - np.interp(launched, pieces.edges, total)
    return {key: ms for key, ms in zip(figures.keys, during.tolist(), strict=True) if ms > 0}


def _cores_needed(pieces: Steps, slower_ms: float) -> int:
    """The fewest cores with which the work that ran at one time would have taken at most `slower_ms` longer, if it is
    spread over them evenly; 0 where no task ran."""
    occupied, lengths = pieces.occupied.astype(np.float64), pieces.lengths_ms
    low, high = 1, int(occupied.max(initial=0))
    while low < high:
        cores = (low + high) // 2
        if float((lengths * np.maximum(0.0, occupied / cores - 1)).sum()) <= slower_ms:
            high = cores
        else:
            low = cores + 1
    return high


def _advice(run: Run, pieces: Steps, where: Where, needed: int, limits: Limits) -> Iterator[Advice]:
    cores = int(pieces.cores.max()) if pieces.cores is not None else 0
    if where.stage is not None:
        yield Advice(
            "check",
            f"Look at stage {where.stage} first: what keeps its tasks from all cores is worth more than fewer cores.",
        )
    why = f"The application would take at most {format_ratio(limits.slower)} longer; there were {cores} cores."
    if is_local(run):
        if 0 < needed < cores:
            yield Advice("cluster", f"Ask for local[{needed}] in place of {cores} slots. {why}")
        elif where.stage is None:
            yield Advice("check", f"All {cores} slots were needed at times: look at what they waited for in between.")
        return
    per_executor = _cores_of_an_executor(run)
    executors = max(1, math.ceil(needed / per_executor))
    if is_on(run, "spark.dynamicAllocation.enabled", default=False):
        yield set_conf("spark.dynamicAllocation.maxExecutors", executors, why)
        idle = setting_of(_IDLE_TIMEOUT)
        now = number_of(idle, run.setting(_IDLE_TIMEOUT) or "60s") if idle is not None else None
        if now is not None and now > _SOONER_SECONDS:
            yield set_conf(_IDLE_TIMEOUT, f"{_SOONER_SECONDS}s", "Gives idle executors back sooner.")
        return
    if executors * per_executor < cores:
        if is_standalone(run):
            yield set_conf("spark.cores.max", executors * per_executor, why)
        else:
            yield set_conf("spark.executor.instances", executors, why)
    yield set_conf(
        "spark.dynamicAllocation.enabled",
        "true",
        "Or let Spark ask for executors as it needs them; this needs spark.shuffle.service.enabled or "
        "spark.dynamicAllocation.shuffleTracking.enabled.",
    )


def _cores_of_an_executor(run: Run) -> int:
    """Cores of the largest executor that came."""
    return max(1, int(pc.max(run.tables["executors"]["cores"]).as_py() or 1))


RULE = Rule(
    code="A2",
    name="idle-cores",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms")), Reads(STAGES), Reads(JOBS), Reads(EXECUTORS, ("cores",))),
    limits=Limits(),
    check=check,
    needs_times=True,
    needs_all_tasks=True,
)
