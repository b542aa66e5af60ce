"""Sums, extremes and medians of the tasks of all stage attempts at once: what rules sift stages by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from emberscope.simulate.stage_tasks import StageKey, StageTasks, TaskColumns, stage_tasks
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


@dataclass(frozen=True, slots=True)
class StageFigures:
    """One place per stage attempt that has ended tasks, in the order of `stage_tasks`.

    `counts` are ended task attempts, `wall_ms` is submission to completion (first launch to last end where one of them
    is not known; NaN where neither is). Columns are those of table `tasks`.
    """

    stages: Sequence[StageTasks]
    columns: TaskColumns
    starts: NDArray[np.int64]
    wall_ms: NDArray[np.float64]
    made: dict[tuple[str, str], NDArray[Any]] = field(default_factory=dict, repr=False)

    @property
    def keys(self) -> list[StageKey]:
        return [stage.key for stage in self.stages]

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.diff(self.starts, append=len(self.columns.order))

    def total(self, column: str) -> NDArray[np.float64]:
        """The sum by stage attempt; what is not known counts as 0."""
        if ("total", column) not in self.made:
            self.made["total", column] = np.add.reduceat(self.columns.amounts(column), self.starts)
        return self.made["total", column]

    def most(self, column: str) -> NDArray[np.float64]:
        """The largest value by stage attempt; NaN where none is known."""
        if ("most", column) not in self.made:
            self.made["most", column] = np.fmax.reduceat(self.columns.numbers(column), self.starts)
        return self.made["most", column]

    def least(self, column: str) -> NDArray[np.float64]:
        """The smallest value by stage attempt; NaN where none is known."""
        if ("least", column) not in self.made:
            self.made["least", column] = np.fmin.reduceat(self.columns.numbers(column), self.starts)
        return self.made["least", column]

    def median(self, column: str) -> NDArray[np.float64]:
        """The median by stage attempt over the attempts that succeeded and carry metrics; NaN where there is none."""
        if ("median", column) not in self.made:
            values, stage = self.columns.numbers(column), np.repeat(np.arange(len(self.stages)), self.counts)
            known = self.columns.good() & ~np.isnan(values)
            values, stage = values[known], stage[known]
            order = np.lexsort((values, stage))
            values, counts = values[order], np.bincount(stage, minlength=len(self.stages))
            firsts = np.cumsum(counts) - counts
            some = counts > 0
            medians = np.full(len(self.stages), np.nan)
            low, high = firsts + (counts - 1) // 2, firsts + counts // 2
            medians[some] = (values[low[some]] + values[high[some]]) / 2
            self.made["median", column] = medians
        return self.made["median", column]

    def run_ms(self) -> NDArray[np.float64]:
        """Wall time in the bodies of all tasks, by stage attempt."""
        divisors = np.array([stage.run_time_divisor for stage in self.stages], dtype=np.float64)
        return np.divide(self.total("executor_run_time_ms"), divisors)


@once
def stage_figures(run: Run) -> StageFigures | None:
    """None where no task has ended."""
    stages = stage_tasks(run)
    if not stages:
        return None
    columns = stages[0].columns
    starts = np.cumsum([0, *(len(stage) for stage in stages)], dtype=np.int64)[:-1]
    launched = np.fmin.reduceat(columns.numbers("launch_ms"), starts)
    finished = np.fmax.reduceat(columns.numbers("finish_ms"), starts)
    return StageFigures(stages, columns, starts, _wall_ms(run, stages, launched, finished))


def _wall_ms(
    run: Run, stages: Sequence[StageTasks], launched: NDArray[np.float64], finished: NDArray[np.float64]
) -> NDArray[np.float64]:
    table = run.tables.get("stages")
    known: dict[StageKey, float] = {}
    if table is not None:
        columns = [table[name].to_pylist() for name in ("stage_id", "stage_attempt", "submitted_ms", "completed_ms")]
        known = {
            (stage, attempt): completed - submitted
            for stage, attempt, submitted, completed in zip(*columns, strict=True)
            if submitted is not None and completed is not None and completed >= submitted
        }
    spans = finished - launched
    return np.array([known.get(stage.key, span) for stage, span in zip(stages, spans.tolist(), strict=True)])
