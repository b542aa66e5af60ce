"""More executors would hardly make the application faster.

## What it means
However many cores there are, an application takes as long as what cannot run side by side: the time in which the driver
works alone and, along the chains of stages that wait for one another, the longest task of each stage. Here that is at
least 90 % of the time that it took.

## What it costs
Nothing by itself, so there is no price. The finding says what a larger cluster would buy: next to nothing.

## What to do
Do not add executors. Look at what is on that path: the driver's time, and the longest tasks of the stages that the
finding names. Where these have findings of their own, those say what to do.

## When to ignore it
When the application is fast enough. The finding is there for those who are about to make the cluster larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import is_interactive
from emberscope.simulate.replay import Timeline, end_ms, makespan_ms, timeline
from emberscope.simulate.shares import shares
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sparklens reports the critical path and the ideal time of each application, without a verdict. The numbers are
    our proposal."""

    ratio: float = 0.9  # time on endlessly many cores over the time that it took
    floor_ms: int = 60_000  # shorter applications, and those of less task time, are left alone
    driver: float = 0.5  # with more than this share of the time without a job the driver is the reason: see A1
    stages: int = 3  # so many stages with the longest tasks are named


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    application, owned = timeline(run), shares(run)
    if application is None or owned is None or owned.duration_ms < limits.floor_ms:
        return
    if owned.driver_ms > limits.driver * owned.duration_ms or is_interactive(run):
        return
    work_ms = sum(float(stage.durations_ms.sum()) for stage in application.stages)
    if work_ms < limits.floor_ms or max(stage.slots for stage in application.stages) < 2:
        return
    cuts, longest = _endless_cores(application)
    length_ms = float(owned.duration_ms)
    ideal_ms = length_ms - max(0.0, application.replayed_end_ms - end_ms(application, cuts))
    if ideal_ms < limits.ratio * length_ms:
        return
    known = places(run)
    top = sorted(longest, key=lambda key: (-longest[key], key))[: limits.stages]
    yield Finding(
        title=f"More executors would save at most {format_ratio(1 - ideal_ms / length_ms)} of the time",
        summary=f"On endlessly many cores the application would still take {format_ms(ideal_ms)} of its "
        f"{format_ms(length_ms)}: {format_ms(owned.driver_ms)} is the driver alone, the rest stages that wait for one "
        "another, each as long as its longest task.",
        where=Where(),
        evidence=(
            Evidence(
                f"{format_ms(ideal_ms)} on endlessly many cores",
                "replay of tasks.launch_ms, tasks.finish_ms, stages.parent_ids",
                round(ideal_ms),
                "ms",
            ),
            Evidence(
                f"{format_ms(owned.driver_ms)} without a job",
                "jobs.submitted_ms, jobs.completed_ms",
                round(owned.driver_ms),
                "ms",
            ),
            *(
                Evidence(
                    f"{format_ms(longest[key])} is the longest task of {_lower(place_of(known, key).sentence)}",
                    "tasks.launch_ms, tasks.finish_ms",
                    round(longest[key]),
                    "ms",
                )
                for key in top
            ),
        ),
        advice=(
            Advice("check", "Do not add executors; look at the driver's time and at the stages that are named here."),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="It says what more executors could save; it is no waste, so no price is given.",
        confidence=0.8,
        consequence="hint",
    )


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _endless_cores(application: Timeline) -> tuple[dict[StageKey, float], dict[StageKey, float]]:
    """What each stage would save if all of its tasks ran at one time; and its longest task, in ms."""
    cuts, longest = {}, {}
    for stage in application.stages:
        most = float(np.max(stage.durations_ms, initial=0.0))
        longest[stage.key] = most
        if len(stage.durations_ms) > stage.slots:
            saved = makespan_ms(stage.durations_ms, stage.slots) - most
            cuts[stage.key] = min(max(0.0, saved), stage.end_ms - stage.start_ms)
    return cuts, longest


RULE = Rule(
    code="A3",
    name="critical-path",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
    needs_times=True,
    needs_all_tasks=True,
)
