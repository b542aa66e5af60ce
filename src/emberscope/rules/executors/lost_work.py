"""What was lost with executors: tasks that ran there, shuffle output that had to be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from emberscope.rules.executors.failed_attempts import FailedAttempts, failed_attempts
from emberscope.rules.executors.removals import Removal, removals
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey, StageTasks
from emberscope.tables.run import once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emberscope.tables.run import Run

# A task may fail to fetch from an executor before the driver knows that it is gone: the longest it is normally silent
# (spark.network.timeout, 120 s).
_UNNOTICED_MS: Final = 120_000


@dataclass(frozen=True, slots=True)
class LostWork:
    """`removed` are the executors that took work with them. `tasks` failed with their executor, `fetches` because
    shuffle output of one was gone; `rerun` are attempts of stages that had succeeded before. Without `removed` nobody
    knows why shuffle output was gone."""

    removed: tuple[Removal, ...]
    tasks: FailedAttempts | None
    fetches: FailedAttempts | None
    rerun: tuple[StageTasks, ...]

    @property
    def rerun_core_ms(self) -> float:
        return float(sum(np.nansum(stage.durations_ms()) for stage in self.rerun))

    @property
    def core_ms(self) -> float:
        return self.rerun_core_ms + sum(part.core_ms for part in (self.tasks, self.fetches) if part is not None)

    @property
    def explained(self) -> bool:
        """Whether executors that were removed are to blame, and not only output that was not there."""
        return bool(self.removed) or (self.tasks is not None and len(self.tasks) > 0)

    @property
    def any(self) -> bool:
        return bool(self.rerun) or any(part is not None and len(part) for part in (self.tasks, self.fetches))


@once
def lost_work(run: Run) -> LostWork:
    failed = failed_attempts(run)
    if failed is None:
        return LostWork((), None, None, ())
    tasks, fetches = failed.of_kind("lost"), failed.of_kind("fetch")
    rerun = _rerun(run) if len(fetches) else ()
    there = set(tasks.texts("executor_id").tolist())
    wrote = _writers(run, fetches)
    last_ms = float(np.nanmax(fetches.numbers("finish_ms"))) if len(fetches) else float("-inf")
    removed = tuple(
        one
        for one in removals(run)
        if one.executor_id in there or (one.executor_id in wrote and one.removed_ms <= _latest_ms(one, last_ms))
    )
    return LostWork(removed, tasks, fetches, rerun)


def _latest_ms(removal: Removal, failed_ms: float) -> float:
    """When the executor must have gone to be the reason: one that the driver let go is known to be gone at once."""
    return failed_ms if removal.why == "asked" else failed_ms + _UNNOTICED_MS


def durations_without(run: Run, failed: Sequence[FailedAttempts]) -> dict[StageKey, Any]:
    """For the replay: the durations of the stages of these failed attempts, less the attempts that failed."""
    figures = stage_figures(run)
    keys = {key for part in failed for key in part.stages()}
    ids = {task for part in failed for task in part.numbers("task_id").tolist()}
    found = {}
    for stage in figures.stages if figures is not None and keys else ():
        if stage.key in keys:
            lengths = stage.durations_ms()
            bad = np.isin(stage.numbers("task_id"), list(ids)) & stage.columns.flags("status", "failed")[stage.rows]
            found[stage.key] = lengths[~bad & ~np.isnan(lengths)]
    return found


def _rerun(run: Run) -> tuple[StageTasks, ...]:
    """Attempts of stages of which an earlier attempt had succeeded."""
    figures, stages = stage_figures(run), run.tables.get("stages")
    if figures is None or stages is None:
        return ()
    columns = [stages[name].to_pylist() for name in ("stage_id", "stage_attempt", "status")]
    succeeded: dict[int, int] = {}
    for stage, attempt, status in zip(*columns, strict=True):
        if status == "succeeded":
            succeeded[stage] = min(attempt, succeeded.get(stage, attempt))
    return tuple(one for one in figures.stages if one.key[1] > succeeded.get(one.key[0], one.key[1]))


def _writers(run: Run, fetches: FailedAttempts) -> set[str]:
    """The executors that ran tasks of the stages whose output could not be fetched."""
    figures, stages = stage_figures(run), run.tables.get("stages")
    if figures is None or stages is None or not len(fetches):
        return set()
    columns = [stages[name].to_pylist() for name in ("stage_id", "parent_ids")]
    parents: Mapping[int, Sequence[int]] = {stage: ids or () for stage, ids in zip(*columns, strict=True)}
    read = {parent for key in fetches.stages() for parent in parents.get(key[0], ())}
    return {str(one) for stage in figures.stages if stage.key[0] in read for one in set(stage.texts("executor_id"))}
