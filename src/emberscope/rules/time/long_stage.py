"""One stage that used all cores well is a large part of a long application.

## What it means
The stage ran for at least 15 minutes although its tasks kept 80 % or more of its slots busy: it is simply much work. No
setting and no better schedule would make it faster; what is left is the work itself.

## What it costs
No price is given: what can be saved depends on what the tasks compute, and the event log does not say that.

## What to do
Look in the flame graph of the stage at what its tasks compute, and make that cheaper: read fewer rows and columns,
filter before the join, use Spark's functions in place of your own. If time matters more than cores, more executors
shorten such a stage nearly in proportion.

## When to ignore it
When the stage does what it has to, in the time that it always takes. The finding only says where to look first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.time.stage_scope import Scope, long_stages
from emberscope.simulate.replay import makespan_ms
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: Dr. Elephant begins to report stages at 15 minutes. The shares are our proposal."""

    floor_ms: int = 15 * 60_000  # wall time of the stage (Dr. Elephant)
    least_app_ratio: float = 0.2  # wall time of the stage over that of the application (proposal)
    least_busy: float = 0.8  # task time over the time of its slots; with less, something else is amiss (proposal)
    most: int = 3  # so many stages are named, the longest ones


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    length_ms = run.application.observed_ms
    if not length_ms:
        return
    scopes = [
        (scope, busy)
        for scope in long_stages(run, least_ms=limits.floor_ms, least_ratio=limits.least_app_ratio)
        for busy in (_busy(scope),)
        if busy >= limits.least_busy
    ]
    for scope, busy in sorted(scopes, key=lambda pair: (-pair[0].wall_ms, pair[0].stage.key))[: limits.most]:
        yield _finding(scope, busy, length_ms)


def _busy(scope: Scope) -> float:
    """Task time over what the slots offered while the stage ran."""
    return min(1.0, float(np.nansum(scope.stage.durations_ms())) / max(1.0, scope.slots * scope.wall_ms))


def _finding(scope: Scope, busy: float, length_ms: int) -> Finding:
    durations = scope.stage.durations_ms()
    durations = durations[~np.isnan(durations)]
    twice_ms = makespan_ms(durations, 2 * scope.slots)
    return Finding(
        title=f"{scope.place.title} is {format_ratio(scope.wall_ms / length_ms)} of the time, and all of it is work",
        summary=f"{scope.place.sentence} took {format_ms(scope.wall_ms)} with {scope.task_count:,} tasks that kept "
        f"{format_ratio(busy)} of its {scope.slots} slots busy.",
        where=scope.place.where,
        evidence=(
            Evidence(
                f"{format_ms(scope.wall_ms)} of {format_ms(length_ms)}",
                "stages.submitted_ms, stages.completed_ms",
                round(scope.wall_ms),
                "ms",
            ),
            Evidence(
                f"{format_ratio(busy)} of its slots busy", "tasks.launch_ms, tasks.finish_ms", round(busy, 4), "ratio"
            ),
        ),
        advice=(
            Advice(
                "check",
                "See in the flame graph of this stage, and at its operators, what its tasks compute: that is what has "
                "to become cheaper.",
            ),
            Advice("cluster", f"With twice the slots the same tasks would take about {format_ms(twice_ms)}."),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="What can be saved depends on what the tasks compute, so no price is given.",
        confidence=0.9,
        consequence="hint",
    )


RULE = Rule(
    code="A9",
    name="long-stage",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
    needs_times=True,
)
