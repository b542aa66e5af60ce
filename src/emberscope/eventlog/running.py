"""Tasks that started and did not end: what ran when the application was killed, and what lost its end."""

from __future__ import annotations

import io
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import astuple

from emberscope.eventlog.balance import TaskCounts
from emberscope.eventlog.codes import Codes
from emberscope.eventlog.events import ABSENT, TaskStart
from emberscope.eventlog.id_set import IdSet
from emberscope.eventlog.places import Places, keys_of, pair_of
from emberscope.eventlog.rows import Kept, Packing, Row
from emberscope.tables.running_tasks import RUNNING_TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS: Final = (
    "stage_id",
    "stage_attempt",
    "task_id",
    "task_index",
    "attempt",
    "partition",
    "launch_ms",
    "executor_id",
    "host",
)
_TASK_ID: Final = COLUMNS.index("task_id")
_TASK_INDEX: Final = COLUMNS.index("task_index")
_OF_STAGES: Final = ("stage_id", "stage_attempt", "job_id", "status", "completed_ms", "failure_reason")
_OF_JOBS: Final = ("job_id", "status", "completed_ms")
_MOST_WAITING: Final = 1 << 14
_MOST_TASKS: Final = 1 << 26
_MOST_INDEXES: Final = 1 << 22

# What Spark says of a stage that ends because the whole application does (DAGScheduler.cleanUpAfterSchedulerStop).
_SHUT_DOWN: Final = "SparkContext was shut down"
_STAGE_ENDED: Final = frozenset({"succeeded", "failed"})


class RunningTasks:
    """Keeps what has started until it ends, so that it holds no more than what runs at one time (and lost its end).

    Of what has ended it knows how many and which tasks of each stage attempt. `lost` is the number of tasks of
    succeeded stages whose end is not in the log, known after `table`.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._misfits = 0
        self._texts = Codes()
        self._waiting: list[NDArray[np.int64]] = []
        self._waiting_rows = 0
        self._started = np.empty((0, len(COLUMNS)), dtype=np.int64)
        self._stages = Places()
        self._starts = array("q")
        self._ends = array("q")
        self._ended = IdSet(_MOST_TASKS)
        self._finished = IdSet(_MOST_TASKS)
        self._finished_count = 0
        packing = Packing(
            lambda: IdSet(_MOST_INDEXES), IdSet.packed, lambda packed: IdSet(_MOST_INDEXES).unpack(packed)
        )
        self._good = Kept(packing, io.BytesIO())

    def add(self, events: Iterable[tuple[int, TaskStart]], rows: NDArray[np.int64], texts: list[str]) -> None:
        """Takes in starts with the numbers of their lines, and rows that the kernel made of other lines of the block.

        Such a row has the number of its line, then the columns, of which texts are positions in `texts`.
        """
        if len(rows):
            for name in ("executor_id", "host"):
                at = 1 + COLUMNS.index(name)
                rows[:, at] = self._texts.of_positions(rows[:, at], texts)
        if decoded := [self._row(number, event) for number, event in events]:
            rows = np.concatenate((rows, np.array(decoded, dtype=np.int64)))
            rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if len(rows):
            self._waiting.append(rows[:, 1:])
            self._waiting_rows += len(rows)
        if self._waiting_rows >= _MOST_WAITING:
            self._flush()

    def _row(self, number: int, event: TaskStart) -> tuple[int, ...]:
        info = event.info
        texts = self._texts
        ids = (number, event.stage_id, event.stage_attempt)
        return (*ids, *astuple(info)[:5], texts[info.executor_id], texts[info.host])

    def _flush(self) -> None:
        if self._waiting:
            self._started = np.concatenate((self._started, *self._waiting))
            rows = self._started[-self._waiting_rows :]
            self._count(self._starts, keys_of(rows[:, 0], rows[:, 1]))
            self._waiting.clear()
            self._waiting_rows = 0

    def _count(self, counts: array[int], keys: NDArray[np.int64]) -> None:
        """Counts keys of stage attempts; `counts` are by the places of those."""
        for key, count in zip(*(each.tolist() for each in np.unique(keys, return_counts=True)), strict=True):
            place = self._stages.of(*pair_of(key))
            if place >= len(counts):
                counts.extend(bytes(place + 1 - len(counts)))
            counts[place] += count

    def ended(
        self, columns: Mapping[str, NDArray[np.int64]], succeeded: NDArray[np.bool_], again: NDArray[np.bool_]
    ) -> None:
        """A batch of ended tasks: columns of table `tasks`, which of them ended well, and which ended well before."""
        self._flush()
        ids, keys = columns["task_id"], keys_of(columns["stage_id"], columns["stage_attempt"])
        # Kept, as an end may stand before its start, or a start come twice, where parts of a log are out of order.
        self._ended.add(ids)
        self._finished.add(ids[~again])
        self._finished_count += len(ids) - int(again.sum())
        self._started = self._started[~self._ended.holds(self._started[:, _TASK_ID])]
        self._count(self._ends, keys)
        keys, indexes = keys[succeeded], columns["task_index"][succeeded]
        order = np.argsort(keys, kind="stable")
        keys, indexes = keys[order], indexes[order]
        borders = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
        for start, end in pairwise(borders):
            if start < end:
                self._good.of(*pair_of(int(keys[start]))).add(indexes[start:end])

    def _ended_well(self, stage_id: int, attempt: int, index: int) -> bool:
        good = self._good.find(stage_id, attempt)
        return good is not None and bool(good.holds(np.array([index]))[0])

    def counts(self) -> TaskCounts:
        """To be called after `table`."""
        started = np.unique(self._started[:, _TASK_ID])
        distinct = len(self._finished)
        return TaskCounts(
            ended=distinct,
            open=len(started),
            gaps=self._finished.gaps(started),
            starts=sum(self._starts),
            repeated=self._finished_count - distinct,
            misfits=self._misfits,
        )

    def table(self, tables: Mapping[str, pa.Table], end_ms: int | None) -> pa.Table:
        """The table `running_tasks`, told from the other tables; `end_ms` is the end of what was seen.

        A stage does not succeed without its tasks: where no attempt of a task is seen to end well, its end was lost,
        unless as many tasks of the stage ended as started (then ids do not fit, and nothing is known to be missing).
        A task of a stage that failed, or beside one that ended well (speculation), is killed with its stage; often the
        application ends before that is logged.
        """
        self._flush()
        self._started = self._started[~self._ended.holds(self._started[:, _TASK_ID])]
        if not len(self._started):
            return RUNNING_TASKS.empty()
        stage_ids = np.unique(self._started[:, 0])
        stages = {
            (row["stage_id"], row["stage_attempt"]): row
            for row in _rows(tables["stages"], _OF_STAGES, "stage_id", stage_ids)
        }
        job_ids = [row["job_id"] for row in stages.values() if row["job_id"] is not None]
        jobs = {row["job_id"]: row for row in _rows(tables["jobs"], _OF_JOBS, "job_id", job_ids)}
        removed = dict(
            zip(*(tables["executors"][name].to_pylist() for name in ("executor_id", "removed_ms")), strict=True)
        )
        without_end: Counter[tuple[int, int]] = Counter()
        texts = self._texts.texts()
        rows = []
        # The last start of a task counts, in the place of its first.
        for values in {values[_TASK_ID]: values for values in self._started.tolist()}.values():
            row = _row(values, texts)
            stage = stages.get((row["stage_id"], row["stage_attempt"]), {})
            key = (values[0], values[1])
            if stage.get("status") == "succeeded" and not self._ended_well(*key, values[_TASK_INDEX]):
                without_end[key] += 1
                continue
            stage_ended = stage.get("status") in _STAGE_ENDED
            job = jobs.get(stage.get("job_id"), {})
            job_ended = job.get("status") in _STAGE_ENDED
            gone_ms = removed.get(row["executor_id"])
            limits = [
                stage.get("completed_ms") if stage_ended else None,
                job.get("completed_ms") if job_ended else None,
                gone_ms,
                end_ms,
            ]
            known = [ms for ms in limits if ms is not None]
            launch_ms = row["launch_ms"]
            until_ms = None if launch_ms is None or not known else max(launch_ms, min(known))
            over = (stage_ended or job_ended) and _SHUT_DOWN not in (stage.get("failure_reason") or "")
            rows.append(row | {"until_ms": until_ms, "at_end": not over and gone_ms is None})
        self.lost = sum(min(n, max(0, self._more_starts(*key))) for key, n in without_end.items())
        self._misfits = without_end.total() - self.lost
        return RUNNING_TASKS.from_rows(rows) if rows else RUNNING_TASKS.empty()

    def _more_starts(self, stage_id: int, attempt: int) -> int:
        """How many more tasks of a stage attempt started than ended."""
        place = self._stages.find(stage_id, attempt)
        starts, ends = (
            0 if place is None or place >= len(counts) else counts[place] for counts in (self._starts, self._ends)
        )
        return starts - ends


def _rows(table: pa.Table, columns: Sequence[str], key: str, among: Sequence[int] | NDArray[np.int64]) -> list[Row]:
    """The rows of which the key is one of `among`."""
    chosen = pc.is_in(table[key], pa.array(among, table.schema.field(key).type))
    rows: list[Row] = table.select(columns).filter(chosen).to_pylist()
    return rows


def _row(values: list[int], texts: list[str]) -> Row:
    row: Row = {name: None if value == ABSENT else value for name, value in zip(COLUMNS, values, strict=True)}
    del row["partition"]
    for name in ("executor_id", "host"):
        row[name] = texts[row[name]] if row[name] >= 0 else None
    return row
