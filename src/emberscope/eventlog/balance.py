"""What a log counts twice, held against itself: events that Spark dropped, or that a copy lost, do not add up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.eventlog.events import ABSENT, StageCompleted
from emberscope.tables.coverage import Note
from emberscope.units import counted, format_count, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Key = tuple[int, int]
Found = list[tuple[str, int]]

# Ids with more gaps than so many for each that is seen are not Spark's, which count from 0.
_MOST_GAPS: Final = 1000
_OF_STAGE: Final = ["stage_id", "stage_attempt", "status", "job_id"]
_RUN_TIME: Final = "internal.metrics.executorRunTime"


@dataclass(slots=True)
class StageTasks:
    """What was seen of the tasks of one stage attempt, and `counted_ms`, their run time as Spark summed it up."""

    good: int = 0
    run_time_ms: int = 0
    first_launch_ms: int | None = None
    counted_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """How many different tasks ended and how many only started; `gaps` are ids below the largest that did neither.

    `starts` are all starts; `repeated` the ends of tasks that had ended already and were not run again; `misfits` are
    starts and ends of the same stage that would make a pair but for their ids.
    """

    ended: int
    open: int
    gaps: int
    starts: int
    repeated: int
    misfits: int


class Balance:
    """Takes in what is counted while the log is read. `notes` says what does not add up."""

    def __init__(self) -> None:
        self.stages: dict[Key, StageTasks] = {}

    def tasks_ended(self, columns: Mapping[str, NDArray[np.int64]], good: NDArray[np.bool_]) -> None:
        """A batch of ended tasks: columns of table `tasks`, and which of them ended well."""
        keys = (columns["stage_id"] << 32) + columns["stage_attempt"]
        distinct, of_row = np.unique(keys, return_inverse=True)
        launches = columns["launch_ms"]
        known = launches > 0
        first = np.full(len(distinct), np.iinfo(np.int64).max)
        np.minimum.at(first, of_row[known], launches[known])
        run_times = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(
            run_times, of_row, np.where(columns["executor_run_time_ms"] == ABSENT, 0, columns["executor_run_time_ms"])
        )
        goods = np.bincount(of_row[good], minlength=len(distinct))
        for key, many, run_time_ms, launch_ms in zip(
            distinct.tolist(), goods.tolist(), run_times.tolist(), first.tolist(), strict=True
        ):
            attempt = key & 0xFFFFFFFF
            stage = self.stage((key - attempt) >> 32, attempt)
            stage.good += many
            stage.run_time_ms += run_time_ms
            if launch_ms < np.iinfo(np.int64).max:
                stage.first_launch_ms = min(launch_ms, stage.first_launch_ms or launch_ms)

    def stage_completed(self, event: StageCompleted) -> None:
        # A late task of an earlier attempt leaves an accumulator of the same name: the larger is a lower bound as well.
        for accumulable in event.stage.accumulables:
            if accumulable.name == _RUN_TIME and (value := bytes(accumulable.value).strip(b'"')).isdigit():
                stage = self.stage(event.stage.stage_id, event.stage.stage_attempt)
                stage.counted_ms = max(int(value), stage.counted_ms or 0)

    def stage(self, stage_id: int, attempt: int) -> StageTasks:
        return self.stages.setdefault((stage_id, attempt), StageTasks())

    def _short(self, stages: pa.Table) -> int:
        """Tasks that stages needed to succeed and whose success is not seen. Attempts of a stage share its tasks."""
        needed: dict[int, int] = {}
        for row in stages.select(["stage_id", "status", "task_count"]).to_pylist():
            if row["status"] == "succeeded" and row["task_count"]:
                needed[row["stage_id"]] = max(needed.get(row["stage_id"], 0), row["task_count"])
        good: dict[int, int] = {}
        for (stage_id, _), stage in self.stages.items():
            good[stage_id] = good.get(stage_id, 0) + stage.good
        return sum(max(0, count - good.get(stage_id, 0)) for stage_id, count in needed.items())

    def _unseen_ms(self) -> list[int]:
        """Run time that Spark counted for a stage and no task shows, where there is any."""
        attempts: dict[int, list[StageTasks]] = {}
        for (stage_id, _), stage in self.stages.items():
            attempts.setdefault(stage_id, []).append(stage)
        return [
            missing
            for several in attempts.values()
            for stage in several
            if (missing := (stage.counted_ms or 0) - sum(each.run_time_ms for each in several)) > 0
        ]

    def tasks(self, seen: TaskCounts, stages: pa.Table, lost_ends: int) -> Found:
        """What the tasks lack, each with the number of events; `lost_ends` is what was found already."""
        found = []
        if 0 < seen.gaps <= _MOST_GAPS * (seen.ended + seen.open):
            verb = "id is" if seen.gaps == 1 else "ids are"
            message = f"{format_count(seen.gaps)} task {verb} missing: the log has neither start nor end of them."
            found.append((message, 2 * seen.gaps))
        if (without_start := seen.ended - (seen.starts - seen.open) - seen.misfits) > 0:
            found.append((f"{counted(without_start, 'task')} ended, but the log has no start of them.", without_start))
        if (short := self._short(stages) - lost_ends - seen.gaps) > 0:
            message = f"Stages succeeded with {counted(short, 'task')} more than the log shows to end well."
            found.append((message, short))
        if not found and not lost_ends and (missing := self._unseen_ms()):
            # Some tasks at least; how many is not known.
            message = f"{counted(len(missing), 'stage')} counted {format_ms(sum(missing))} of task run time more than"
            found.append((f"{message} the tasks in the log: some are missing.", len(missing)))
        return found


def without_any(tables: Mapping[str, pa.Table], with_tasks: Collection[Key]) -> Found:
    """Jobs, stages and SQL executions that others belong to, and that have no event of their own."""
    jobs, stages, sql = tables["jobs"], tables["stages"], tables["sql_executions"]
    ran = [row for row in stages.select(_OF_STAGE).to_pylist() if row["status"] != "skipped"]
    known = {(row["stage_id"], row["stage_attempt"]) for row in ran}
    no_stage = {stage_id for stage_id, attempt in with_tasks if (stage_id, attempt) not in known}
    no_job = {row["stage_id"] for row in ran if row["job_id"] is None}
    executions = set(sql["sql_execution_id"].to_pylist())
    # Their events may have been excluded, all of them.
    no_sql = (set(jobs["sql_execution_id"].to_pylist()) - executions - {None}) if executions else set()
    found = []
    for ids, noun, what in ((no_stage, "stage", "tasks"), (no_sql, "SQL execution", "jobs")):
        if ids:
            it = "it" if len(ids) == 1 else "them"
            found.append((f"{counted(len(ids), noun)} had {what}, but the log has no event of {it}.", len(ids)))
    if no_job and not any(ids is None for ids in jobs["stage_ids"].to_pylist()):
        # Of how many jobs is not known.
        found.append((f"{counted(len(no_job), 'stage')} ran for jobs that the log has no event of.", 1))
    return found


def jobs_and_stages(tables: Mapping[str, pa.Table], event_counts: Mapping[str, int], ended: bool) -> Found:
    """Jobs, stages and SQL executions with only a start or only an end, where both must have been."""
    jobs, stages, sql = tables["jobs"], tables["stages"], tables["sql_executions"]
    status: dict[int, set[str]] = {}
    for row in stages.select(["stage_id", "status"]).to_pylist():
        status.setdefault(row["stage_id"], set()).add(row["status"])
    jobs_without_start = jobs_without_end = 0
    of_ended: set[int] = set()
    of_running: set[int] = set()
    for row in jobs.select(["status", "stage_ids"]).to_pylist():
        if row["stage_ids"] is None:
            jobs_without_start += 1
        elif row["status"] != "unfinished":
            of_ended.update(row["stage_ids"])
        else:
            of_running.update(row["stage_ids"])
            # A job that runs when the application is stopped is ended by that.
            jobs_without_end += ended
    # Where a job lost its end, tasks that seem to run where the log ends lost theirs.
    running = pc.sum(tables["running_tasks"]["at_end"]).as_py() if jobs_without_end else 0
    unfinished = pc.sum(pc.equal(stages["status"].cast(pa.string()), "unfinished")).as_py() or 0
    submitted, completed = (event_counts.get(f"SparkListenerStage{name}", 0) for name in ("Submitted", "Completed"))
    sql_ends = sum(n for name, n in event_counts.items() if name.endswith(".SparkListenerSQLExecutionEnd"))
    return [
        (f"{counted(count, noun)} {did}, but the log has no {lacks} of {'it' if count == 1 else 'them'}.", count)
        for count, noun, did, lacks in (
            (jobs_without_start, "job", "ended", "start"),
            (jobs_without_end, "job", "must have ended", "end"),
            (running or 0, "task", "must have ended", "end"),
            (completed - (submitted - unfinished), "stage attempt", "ended", "start"),
            (
                sum("unfinished" in status.get(each, ()) for each in of_ended - of_running),
                "stage",
                "must have ended",
                "end",
            ),
            (sql_ends - (pc.sum(pc.is_valid(sql["ended_ms"])).as_py() or 0), "SQL execution", "ended", "start"),
        )
        if count > 0
    ]


def balance_notes(found: Sequence[tuple[str, int]], told: int, *, begins: bool, compacted: bool) -> list[Note]:
    """What was found as notes of dropped events. `told` events are known to be lost by other notes already.

    A log without a beginning was taken out of a longer one by somebody, and what it lacks is no damage but a limit.
    """
    left = []
    for message, events in found:
        already = min(told, events)
        told -= already
        if events > already:
            left.append((message, events - already))
    if not left:
        return []
    said = " ".join(message for message, _ in left)
    if not begins:
        return [Note("limited", f"The log has no beginning, it is a part of a longer one. {said}")]
    if compacted:
        message = f"Spark compacted the log, which leaves out what ended long before. {said}"
        return [Note("limited", message, "", {"events": sum(events for _, events in left)})]
    return [Note("dropped_events", message, "", {"events": events}) for message, events in left]
