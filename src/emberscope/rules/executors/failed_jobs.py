"""The jobs that failed by themselves, each with the task that ended it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.executors.errors import exception_line, program_line
from emberscope.rules.executors.failed_attempts import FailedAttempts, failed_attempts
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.run import once

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from emberscope.tables.run import Run

# Jobs that somebody ended on purpose, or that ended with something else.
CANCELLED: Final = re.compile(r"(?i)\bcancel|was stopped|shut ?down|\binterrupted\b|was killed by user|killed via the")
_TASK: Final = re.compile(r"Task (\d+) in stage (\d+)\.(\d+) failed (\d+) times")


class FailedJob(Struct, frozen=True):
    """One failed job. `key` is the stage attempt that failed, `task_index` the task that failed too often, each None
    where that is not known; `attempts` are the failures of that task. `core_ms` is the core time of all its tasks."""

    row: Mapping[str, Any]
    message: str
    key: StageKey | None
    task_index: int | None
    attempts: FailedAttempts | None
    core_ms: float

    @property
    def job_id(self) -> int | None:
        job: int | None = self.row["job_id"]
        return job

    @property
    def kind(self) -> str:
        """The kind of its last failure; `none` where no task failed."""
        return str(self.attempts.kinds[-1]) if self.attempts is not None and len(self.attempts) else "none"

    @property
    def said(self) -> str:
        """The last exception in one line, or else what Spark says of the job."""
        if self.attempts is None:
            return exception_line(None, self.message)
        return exception_line(str(self.attempts.texts("error_class")[-1] or ""), self._last_message)

    @property
    def line(self) -> str | None:
        """The line of the program that the last exception came from."""
        return program_line(self._last_message) or program_line(self.message)

    @property
    def _last_message(self) -> str:
        return self.message if self.attempts is None else str(self.attempts.texts("error_message")[-1] or "")


def alike(jobs: Iterable[FailedJob]) -> list[list[FailedJob]]:
    """Jobs that failed for the same reason at the same line, together, in their order."""
    groups: dict[tuple[str, str, str | None], list[FailedJob]] = {}
    for job in jobs:
        groups.setdefault((job.kind, job.said, job.line), []).append(job)
    return list(groups.values())


def jobs_failed(jobs: Sequence[FailedJob]) -> str:
    """`Job 4 failed`, `Job 4 and 2 more failed`."""
    more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
    return f"Job {jobs[0].job_id}{more} failed"


def went_on(run: Run, job: FailedJob) -> int:
    """How many jobs were submitted after this one had failed, and succeeded."""
    jobs, ended_ms = run.tables["jobs"], job.row["completed_ms"]
    if ended_ms is None:
        return 0
    later = pc.and_(pc.equal(jobs["status"], "succeeded"), pc.greater_equal(jobs["submitted_ms"], ended_ms))
    return int(pc.sum(pc.fill_null(later, False)).as_py() or 0)


@once
def failed_jobs(run: Run) -> list[FailedJob]:
    """By their end; those that were cancelled are not among them."""
    jobs = run.tables.get("jobs")
    if jobs is None or jobs.num_rows == 0:
        return []
    failed = jobs.filter(pc.fill_null(pc.equal(jobs["status"], "failed"), False)).to_pylist()
    rows = [row for row in failed if not CANCELLED.search((row["error_message"] or "").split("\n", 1)[0])]
    reasons = _failed_stages(run)
    core_ms = _core_ms(run)
    found = []
    for row in sorted(rows, key=lambda row: (row["completed_ms"] or 0, row["job_id"] or 0)):
        message = row["error_message"] or ""
        own = set(row["stage_ids"] or ())
        named = _TASK.search(message)
        key = (int(named[2]), int(named[3])) if named else None
        if key is None:
            keys = [k for k, reason in reasons.items() if k[0] in own and not CANCELLED.search(reason)]
            key = max(keys, default=None)
            message = message or reasons.get(key or (-1, -1), "")
            named = named or _TASK.search(message)
        index = int(named[1]) if named else _failed_most(run, key)
        spent = sum(ms for (stage, _), ms in core_ms.items() if stage in own)
        found.append(FailedJob(row, message, key, index, _attempts(run, key, index), spent))
    return found


def _failed_most(run: Run, key: StageKey | None) -> int | None:
    """The task of this stage attempt that failed most often, the last of those that failed as often: Spark 4 gives some
    errors on as they are, without the words that name the task."""
    failed = _attempts(run, key, None)
    if failed is None:
        return None
    indices = failed.numbers("task_index")
    counts = {index: int((indices == index).sum()) for index in indices.tolist() if index == index}
    last = {index: place for place, index in enumerate(indices.tolist())}
    return max((int(index) for index in counts), key=lambda index: (counts[index], last[index]), default=None)


def _attempts(run: Run, key: StageKey | None, index: int | None) -> FailedAttempts | None:
    failed = failed_attempts(run)
    if failed is None or key is None:
        return None
    here = (failed.numbers("stage_id") == key[0]) & (failed.numbers("stage_attempt") == key[1])
    if index is not None:
        here &= failed.numbers("task_index") == index
    found = failed.where(np.asarray(here, dtype=np.bool_))
    return found if len(found) else None


def _failed_stages(run: Run) -> dict[StageKey, str]:
    stages = run.tables.get("stages")
    if stages is None or stages.num_rows == 0:
        return {}
    failed = stages.filter(pc.fill_null(pc.equal(stages["status"], "failed"), False))
    columns = [failed[name].to_pylist() for name in ("stage_id", "stage_attempt", "failure_reason")]
    return {(stage, attempt): reason or "" for stage, attempt, reason in zip(*columns, strict=True)}


@once
def _core_ms(run: Run) -> dict[StageKey, float]:
    """Launch to end of all tasks, by stage attempt."""
    figures = stage_figures(run)
    if figures is None:
        return {}
    lengths = np.nan_to_num(np.maximum(figures.columns.numbers("finish_ms") - figures.columns.numbers("launch_ms"), 0))
    return dict(zip(figures.keys, np.add.reduceat(lengths, figures.starts).tolist(), strict=True))
