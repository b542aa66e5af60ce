"""The stages that are long enough to speak of, with the slots that they had: where rules about tasks begin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.places import Place, place_of, places
from emberscope.simulate.replay import timeline
from emberscope.simulate.stage_figures import StageFigures, stage_figures
from emberscope.simulate.stage_tasks import StageKey, StageTasks
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# What a task that is not the first one of its executor costs beside its work, at most (our proposal).
_START_MS: Final = 100.0


class Scope(Struct, frozen=True):
    """One long stage attempt: its tasks, its place in the program, its row of the figures, the slots it could use and
    the tasks it was cut into."""

    stage: StageTasks
    place: Place
    row: int
    figures: StageFigures
    slots: int
    task_count: int

    @property
    def wall_ms(self) -> float:
        return float(self.figures.wall_ms[self.row])

    def total(self, column: str) -> float:
        """The sum of a column of its tasks; what is not known counts as 0."""
        return float(self.figures.total(column)[self.row])

    @property
    def shuffle_read_bytes(self) -> float:
        return self.total("shuffle_read_local_bytes") + self.total("shuffle_read_remote_bytes")

    def spread(self, count: int) -> NDArray[np.float64]:
        """The durations of `count` even tasks that do the work of the stage.

        Each has its share of the time in the tasks' bodies and an overhead: the first one on each slot that of the
        median task, the others at most `_START_MS`, since the first tasks of an executor pay for its warm-up.
        """
        tasks = self.stage.succeeded()
        durations, run_ms = tasks.durations_ms(), tasks.run_ms()
        known = ~np.isnan(durations)
        run_ms, durations = np.minimum(run_ms[known], durations[known]), durations[known]
        if not len(durations):
            return np.array([])
        overhead_ms = float(np.median(durations - run_ms))
        each = np.full(count, float(run_ms.sum()) / count + min(overhead_ms, _START_MS))
        each[: self.slots] += max(0.0, overhead_ms - _START_MS)
        return each


def long_stages(
    run: Run, *, least_ms: float, least_ratio: float, chosen: NDArray[np.bool_] | None = None
) -> Iterator[Scope]:
    """Succeeded tasks of each stage attempt that took `least_ms` and this share of the application, if `chosen`."""
    figures = stage_figures(run)
    if figures is None:
        return
    floor_ms = max(least_ms, least_ratio * (run.application.observed_ms or 0))
    long = np.nan_to_num(figures.wall_ms) >= floor_ms
    known, slots = places(run), slots_by_stage(run)
    for row in np.flatnonzero(long if chosen is None else long & chosen).tolist():
        stage = figures.stages[row]
        place = place_of(known, stage.key)
        count = place.task_count or len(stage)
        yield Scope(stage, place, row, figures, slots.get(stage.key, 1), count)


def most_parts(run: Run, scope: Scope) -> float:
    """Into how many tasks the work of a stage can be cut at most: as many as it has rows. Infinity where that is not
    known: only what a shuffle of Spark's own SQL brings is counted in rows, all else may be counted in batches."""
    rows = scope.total("shuffle_read_records")
    counted = scope.place.where.sql is not None and run.application.vendor is None and scope.total("input_records") == 0
    return rows if counted and rows > 0 else math.inf


@once
def slots_by_stage(run: Run) -> Mapping[StageKey, int]:
    """The tasks that each stage attempt could run at one time; those that it did run where others ran beside it."""
    application = timeline(run)
    return {} if application is None else {stage.key: stage.slots for stage in application.stages}


@once
def barriers(run: Run) -> frozenset[StageKey]:
    """The stage attempts whose tasks all start together: their number is that of the workers that were asked for."""
    table = run.tables.get("stages")
    if table is None or table["barrier"].null_count == table.num_rows:
        return frozenset()
    columns = [table[name].to_pylist() for name in ("stage_id", "stage_attempt", "barrier")]
    return frozenset((stage, attempt) for stage, attempt, barrier in zip(*columns, strict=True) if barrier)
