"""What a log counts twice, held against itself: events that Spark dropped, or that a copy lost, do not add up."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.eventlog.events import ABSENT, StageCompleted
from emberscope.eventlog.places import Places, keys_of, pair_of
from emberscope.tables.coverage import Note
from emberscope.units import counted, format_count, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Found = list[tuple[str, int]]

# Ids with more gaps than so many for each that is seen are not Spark's, which count from 0.
_MOST_GAPS: Final = 1000
_MOST_MS: Final = 1 << 53
_RUN_TIME: Final = "internal.metrics.executorRunTime"


class StageTasks:
    """What was seen of the tasks of each stage attempt, and their run time as Spark summed it up: -1 is not known."""

    def __init__(self) -> None:
        self.places = Places()
        self.good = array("q")
        self.run_time_ms = array("q")
        self.first_launch_ms = array("q")
        self.counted_ms = array("q")

    def place(self, stage_id: int, attempt: int) -> int:
        """Where a stage attempt is in all of these."""
        place = self.places.of(stage_id, attempt)
        if place == len(self.good):
            for column, nothing in (
                (self.good, 0),
                (self.run_time_ms, 0),
                (self.first_launch_ms, -1),
                (self.counted_ms, -1),
            ):
                column.append(nothing)
        return place

    def stage_ids(self) -> NDArray[np.int64]:
        return self.places.numbers()

    def keys(self) -> NDArray[np.int64]:
        return keys_of(self.places.numbers(), self.places.attempts())


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
        self.stages = StageTasks()

    def tasks_ended(self, columns: Mapping[str, NDArray[np.int64]], good: NDArray[np.bool_]) -> None:
        """A batch of ended tasks: columns of table `tasks`, and which of them ended well."""
        keys = keys_of(columns["stage_id"], columns["stage_attempt"])
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
        stages = self.stages
        for key, many, run_time_ms, launch_ms in zip(
            distinct.tolist(), goods.tolist(), run_times.tolist(), first.tolist(), strict=True
        ):
            place = stages.place(*pair_of(key))
            stages.good[place] += many
            stages.run_time_ms[place] = min(stages.run_time_ms[place] + run_time_ms, _MOST_MS)
            if launch_ms < np.iinfo(np.int64).max and not -1 < stages.first_launch_ms[place] <= launch_ms:
                stages.first_launch_ms[place] = launch_ms

    def stage_completed(self, event: StageCompleted) -> None:
        # A late task of an earlier attempt leaves an accumulator of the same name: the larger is a lower bound as well.
        for accumulable in event.stage.accumulables:
            if accumulable.name == _RUN_TIME and (value := bytes(accumulable.value).strip(b'"')).isdigit():
                place = self.stages.place(event.stage.stage_id, event.stage.stage_attempt)
                self.stages.counted_ms[place] = max(min(int(value), _MOST_MS), self.stages.counted_ms[place])

    def _short(self, stages: pa.Table) -> int:
        """Tasks that stages needed to succeed and whose success is not seen. Attempts of a stage share its tasks."""
        counts = numpy_of(stages["task_count"], 0)
        needs = numpy_of(pc.equal(stages["status"].cast(pa.string()), "succeeded"), False) & (counts > 0)
        ids, needed = _most(numpy_of(stages["stage_id"], 0)[needs], counts[needs])
        good = _sums_of(ids, self.stages.stage_ids(), np.array(self.stages.good, dtype=np.int64))
        return int(np.maximum(0, needed - good).sum())

    def _unseen_ms(self) -> NDArray[np.int64]:
        """Run time that Spark counted for a stage and no task shows, where there is any."""
        ids = self.stages.stage_ids()
        missing = np.maximum(0, np.array(self.stages.counted_ms, dtype=np.int64))
        distinct, of_row = np.unique(ids, return_inverse=True)
        missing -= _sums_of(distinct, ids, np.array(self.stages.run_time_ms, dtype=np.int64))[of_row]
        return missing[missing > 0]

    def tasks(self, seen: TaskCounts, stages: pa.Table, lost_ends: int) -> Found:
        """What the tasks lack, each with the number of events; `lost_ends` is what was found already."""
        found = []
        if 0 < seen.gaps <= _MOST_GAPS * (seen.ended + seen.open):
            verb = "id is" if seen.gaps == 1 else "ids are"
            it = "it" if seen.gaps == 1 else "them"
            message = f"{format_count(seen.gaps)} task {verb} missing: the log has neither start nor end of {it}."
            found.append((message, 2 * seen.gaps))
        if (without_start := seen.ended - (seen.starts - seen.open) - seen.misfits) > 0:
            it = "it" if without_start == 1 else "them"
            found.append((f"{counted(without_start, 'task')} ended, but the log has no start of {it}.", without_start))
        if (short := self._short(stages) - lost_ends - seen.gaps) > 0:
            message = f"Stages succeeded with {counted(short, 'task')} more than the log shows to end well."
            found.append((message, short))
        if not found and not lost_ends and len(missing := self._unseen_ms()):
            # Some tasks at least; how many is not known.
            message = (
                f"{counted(len(missing), 'stage')} counted {format_ms(int(missing.sum()))} of task run time more than"
            )
            found.append((f"{message} the tasks in the log: some are missing.", len(missing)))
        return found


def without_any(tables: Mapping[str, pa.Table], with_tasks: StageTasks) -> Found:
    """Jobs, stages and SQL executions that others belong to, and that have no event of their own."""
    jobs, stages, sql = tables["jobs"], tables["stages"], tables["sql_executions"]
    ran = stages.filter(pc.not_equal(stages["status"].cast(pa.string()), "skipped"))
    ran_ids = numpy_of(ran["stage_id"], 0)
    unknown = ~np.isin(with_tasks.keys(), keys_of(ran_ids, numpy_of(ran["stage_attempt"], 0)))
    no_stage = len(np.unique(with_tasks.stage_ids()[unknown]))
    no_job = len(np.unique(ran_ids[numpy_of(pc.is_null(ran["job_id"]), False)]))
    # Their events may have been excluded, all of them.
    of_jobs = pc.unique(jobs["sql_execution_id"].drop_null())
    no_sql = pc.sum(pc.invert(pc.is_in(of_jobs, sql["sql_execution_id"]))).as_py() if sql.num_rows else 0
    found = []
    for count, noun, what in ((no_stage, "stage", "tasks"), (no_sql or 0, "SQL execution", "jobs")):
        if count:
            it = "it" if count == 1 else "them"
            found.append((f"{counted(count, noun)} had {what}, but the log has no event of {it}.", count))
    if no_job and not jobs["stage_ids"].null_count:
        # Of how many jobs is not known.
        found.append((f"{counted(no_job, 'stage')} ran for jobs that the log has no event of.", 1))
    return found


def jobs_and_stages(tables: Mapping[str, pa.Table], event_counts: Mapping[str, int], ended: bool) -> Found:
    """Jobs, stages and SQL executions with only a start or only an end, where both must have been."""
    jobs, stages, sql = tables["jobs"], tables["stages"], tables["sql_executions"]
    open_stages = stages.filter(pc.equal(stages["status"].cast(pa.string()), "unfinished"))
    started = jobs.filter(pc.is_valid(jobs["stage_ids"]))
    jobs_without_start = jobs.num_rows - started.num_rows
    is_running = pc.equal(started["status"].cast(pa.string()), "unfinished")
    running_jobs = started.filter(is_running)
    # A job that runs when the application is stopped is ended by that.
    jobs_without_end = running_jobs.num_rows if ended else 0
    # Where a job lost its end, tasks that seem to run where the log ends lost theirs.
    running = pc.sum(tables["running_tasks"]["at_end"]).as_py() if jobs_without_end else 0
    of_ended = pc.list_flatten(started.filter(pc.invert(is_running))["stage_ids"])
    of_running = pc.list_flatten(running_jobs["stage_ids"])
    over = pc.unique(open_stages["stage_id"])
    stages_without_end = pc.sum(pc.and_(pc.is_in(over, of_ended), pc.invert(pc.is_in(over, of_running)))).as_py()
    submitted, completed = (event_counts.get(f"SparkListenerStage{name}", 0) for name in ("Submitted", "Completed"))
    sql_ends = sum(n for name, n in event_counts.items() if name.endswith(".SparkListenerSQLExecutionEnd"))
    return [
        (f"{counted(count, noun)} {did}, but the log has no {lacks} of {'it' if count == 1 else 'them'}.", count)
        for count, noun, did, lacks in (
            (jobs_without_start, "job", "ended", "start"),
            (jobs_without_end, "job", "must have ended", "end"),
            (running or 0, "task", "must have ended", "end"),
            (completed - (submitted - open_stages.num_rows), "stage attempt", "ended", "start"),
            (stages_without_end or 0, "stage", "must have ended", "end"),
            (sql_ends - (pc.sum(pc.is_valid(sql["ended_ms"])).as_py() or 0), "SQL execution", "ended", "start"),
        )
        if count > 0
    ]


def numpy_of(column: pa.ChunkedArray, absent: int | bool) -> NDArray[Any]:
    """A column as an array, with `absent` for null."""
    values: NDArray[Any] = pc.fill_null(column, absent).to_numpy()
    return values


def _most(ids: NDArray[np.int64], values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each id once, in order, with the largest of its values."""
    distinct, of_row = np.unique(ids, return_inverse=True)
    largest = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(largest, of_row, values)
    return distinct, largest


def _sums_of(wanted: NDArray[np.int64], ids: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of the ids `wanted`, which are in order and each there once, the sum of its values."""
    sums = np.zeros(len(wanted), dtype=np.int64)
    there = np.isin(ids, wanted)
    np.add.at(sums, np.searchsorted(wanted, ids[there]), values[there])
    return sums


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
