"""What was lost with executors: tasks that ran there, shuffle output that had to be made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

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


class LostWork(Struct, frozen=True):
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
    rerun = _rerun(run, fetches) if len(fetches) else ()
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


def _rerun(run: Run, fetches: FailedAttempts) -> tuple[StageTasks, ...]:
    """Attempts of stages that had been done before: a later attempt of one that had succeeded, or tasks of what a stage
    reads that were launched after the stage itself. With adaptive execution, what made the output at first is a stage
    of another job and has another id."""
    figures, stages = stage_figures(run), run.tables.get("stages")
    if figures is None or stages is None:
        return ()
    columns = [stages[name].to_pylist() for name in ("stage_id", "stage_attempt", "status")]
    succeeded: dict[int, int] = {}
    for stage, attempt, status in zip(*columns, strict=True):
        if status == "succeeded":
            succeeded[stage] = min(attempt, succeeded.get(stage, attempt))
    known, launched = _parents(run), figures.least("launch_ms").tolist()
    first: dict[int, float] = {}
    for one, at_ms in zip(figures.stages, launched, strict=True):
        first[one.key[0]] = min(at_ms, first.get(one.key[0], at_ms))
    begun: dict[int, float] = {}
    for key in fetches.stages():
        for above in _above(known, key[0]):
            begun[above] = min(first[key[0]], begun.get(above, first[key[0]]))
    return tuple(
        one
        for one, at_ms in zip(figures.stages, launched, strict=True)
        if one.key[1] > succeeded.get(one.key[0], one.key[1]) or at_ms >= begun.get(one.key[0], float("inf"))
    )


def _parents(run: Run) -> Mapping[int, Sequence[int]]:
    stages = run.tables["stages"]
    columns = [stages[name].to_pylist() for name in ("stage_id", "parent_ids")]
    return {stage: ids or () for stage, ids in zip(*columns, strict=True)}


def _above(parents: Mapping[int, Sequence[int]], stage: int) -> set[int]:
    """All stages that this one reads from, directly or by others."""
    found: set[int] = set()
    waiting = [stage]
    while waiting:
        new = set(parents.get(waiting.pop(), ())) - found - {stage}
        found |= new
        waiting += new
    return found


def _writers(run: Run, fetches: FailedAttempts) -> set[str]:
    """The executors that may have made the output that could not be fetched: those of the stages that made it before,
    or, where these have other ids, all that had done a task by then."""
    figures, stages = stage_figures(run), run.tables.get("stages")
    if figures is None or stages is None or not len(fetches):
        return set()
    known, columns = _parents(run), figures.columns
    keys = {key[0] for key in fetches.stages()}
    launched = [at for one, at in zip(figures.stages, figures.least("launch_ms"), strict=True) if one.key[0] in keys]
    begun = float(np.nanmin(launched)) if launched else float("inf")
    before = columns.flags("status", "success") & (columns.numbers("finish_ms") <= begun)
    made = np.isin(columns.numbers("stage_id"), list({parent for key in keys for parent in known.get(key, ())}))
    rows = columns.order[before & made] if (before & made).any() else columns.order[before]
    names = columns.table["executor_id"].take(pa.array(rows))
    return {str(one) for one in pc.unique(names.cast(pa.string())).to_pylist()}
