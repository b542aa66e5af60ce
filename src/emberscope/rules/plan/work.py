"""What the tasks of some stages cost, whether that is worth a word, and what tables tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.base import Reads, Where
from emberscope.rules.plans import Plan
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey, StageTasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.run import once
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

READS: Final = (
    Reads(TASKS, ("executor_run_time_ms",)),
    Reads(STAGES),
    Reads(JOBS),
    Reads(SQL_EXECUTIONS),
    Reads(PLAN_NODES),
    Reads(PLAN_METRICS),
)
"""What a rule about the cost of operators cannot do without."""


class StageWork(Struct, frozen=True):
    """One stage attempt, or a share of it: its tasks, their time and its wall time in ms (0 where not known)."""

    tasks: StageTasks
    run_ms: float
    wall_ms: float
    share: float = 1.0

    def part(self, share: float) -> StageWork:
        return StageWork(self.tasks, self.run_ms * share, self.wall_ms * share, self.share * share)


class Work(Struct, frozen=True):
    """What some stages cost together. `wall_ms` is their sum, as if they ran one after the other."""

    stages: tuple[StageWork, ...]

    @property
    def run_ms(self) -> float:
        return sum(stage.run_ms for stage in self.stages)

    @property
    def wall_ms(self) -> float:
        return sum(stage.wall_ms for stage in self.stages)

    @property
    def dearest(self) -> StageKey | None:
        """The stage attempt with the most task time; None where there is none."""
        return max(self.stages, key=lambda stage: stage.run_ms).tasks.key if self.stages else None

    def is_worth_a_word(self, run: Run, floor_ms: float, least_ratio: float) -> bool:
        """Whether it took so long, in wall time or as a share of the application."""
        length_ms = run.application.observed_ms or 0
        return self.wall_ms >= floor_ms or (self.wall_ms > 0 and self.wall_ms >= least_ratio * length_ms > 0)

    def times(self, factor: float) -> dict[StageKey, NDArray[np.float64]]:
        """The durations of its tasks, each so many times as long."""
        found = {}
        for stage in self.stages:
            lengths = stage.tasks.durations_ms()
            found[stage.tasks.key] = lengths[~np.isnan(lengths)] * factor
        return found

    def without(self) -> dict[StageKey, NDArray[np.float64]]:
        """The durations of the tasks in its stages, less this work."""
        found = {}
        for stage in self.stages:
            lengths = stage.tasks.durations_ms()
            found[stage.tasks.key] = lengths[~np.isnan(lengths)] * (1.0 - stage.share)
        return found


def work_of(run: Run, stage_ids: Iterable[int]) -> Work:
    """The work of all attempts of these stages that had tasks."""
    known = _work_by_stage(run)
    return Work(tuple(work for stage in sorted(set(stage_ids)) for work in known.get(stage, ())))


@once
def _work_by_stage(run: Run) -> Mapping[int, list[StageWork]]:
    figures = stage_figures(run)
    if figures is None:
        return {}
    found: dict[int, list[StageWork]] = {}
    walls = np.nan_to_num(figures.wall_ms).tolist()
    for tasks, run_ms, wall_ms in zip(figures.stages, figures.run_ms().tolist(), walls, strict=True):
        found.setdefault(tasks.key[0], []).append(StageWork(tasks, run_ms, max(0.0, wall_ms)))
    return found


def execution_settings(run: Run, key: str) -> dict[int, str]:
    """What single SQL executions set a setting to, where that was not what the application has."""
    conf = run.tables.get("conf")
    if conf is None:
        return {}
    columns = (conf[name].to_pylist() for name in ("key", "value", "scope", "sql_execution_id"))
    return {
        sql: (value or "").strip().lower()
        for name, value, scope, sql in zip(*columns, strict=True)
        if name == key and scope == "sql" and sql is not None
    }


def at(plan: Plan, work: Work) -> Where:
    """The execution with its line, and the stage where most of the work was."""
    stage, attempt = work.dearest or (None, None)
    return replace(plan.where, stage=stage, stage_attempt=attempt)
