"""Tasks that started and did not end: what ran when the application was killed, and what lost its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from msgspec.structs import astuple

from emberscope.eventlog.balance import TaskCounts
from emberscope.eventlog.codes import Codes
from emberscope.eventlog.events import ABSENT, TaskStart
from emberscope.eventlog.id_set import IdSet
from emberscope.tables.running_tasks import RUNNING_TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = dict[str, Any]

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
        self._starts: Counter[int] = Counter()
        self._ends: Counter[int] = Counter()
        self._ended = IdSet(_MOST_TASKS)
        self._finished = IdSet(_MOST_TASKS)
        self._finished_count = 0
        self._good: dict[int, IdSet] = {}

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
            self._starts.update(_counts(_keys(rows[:, 0], rows[:, 1])))
            self._waiting.clear()
            self._waiting_rows = 0

    def ended(
        self, columns: Mapping[str, NDArray[np.int64]], succeeded: NDArray[np.bool_], again: NDArray[np.bool_]
    ) -> None:
        """A batch of ended tasks: columns of table `tasks`, which of them ended well, and which ended well before."""
        self._flush()
        ids, keys = columns["task_id"], _keys(columns["stage_id"], columns["stage_attempt"])
        # Kept, as an end may stand before its start, or a start come twice, where parts of a log are out of order.
        self._ended.add(ids)
        self._finished.add(ids[~again])
        self._finished_count += len(ids) - int(again.sum())
        self._started = self._started[~self._ended.holds(self._started[:, _TASK_ID])]
        self._ends.update(_counts(keys))
        keys, indexes = keys[succeeded], columns["task_index"][succeeded]
        order = np.argsort(keys, kind="stable")
        keys, indexes = keys[order], indexes[order]
        borders = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
        for start, end in pairwise(borders):
            if start < end:
                self._good.setdefault(int(keys[start]), IdSet(_MOST_INDEXES)).add(indexes[start:end])

    def _ended_well(self, key: int, index: int) -> bool:
        good = self._good.get(key)
        return good is not None and bool(good.holds(np.array([index]))[0])

    def counts(self) -> TaskCounts:
        """To be called after `table`."""
        started = np.unique(self._started[:, _TASK_ID])
        distinct = len(self._finished)
        return TaskCounts(
            ended=distinct,
            open=len(started),
            gaps=self._finished.gaps(started),
            starts=self._starts.total(),
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
        stages = {(row["stage_id"], row["stage_attempt"]): row for row in _rows(tables["stages"], _OF_STAGES)}
        jobs = {row["job_id"]: row for row in _rows(tables["jobs"], _OF_JOBS)}
        removed = dict(
            zip(*(tables["executors"][name].to_pylist() for name in ("executor_id", "removed_ms")), strict=True)
        )
        without_end: Counter[int] = Counter()
        texts = self._texts.texts()
        rows = []
        # The last start of a task counts, in the place of its first.
        for values in {values[_TASK_ID]: values for values in self._started.tolist()}.values():
            row = _row(values, texts)
            stage = stages.get((row["stage_id"], row["stage_attempt"]), {})
            key = _key(*values[:2])
            if stage.get("status") == "succeeded" and not self._ended_well(key, values[_TASK_INDEX]):
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
        self.lost = sum(min(n, max(0, self._starts[key] - self._ends[key])) for key, n in without_end.items())
        self._misfits = without_end.total() - self.lost
        return RUNNING_TASKS.from_rows(rows) if rows else RUNNING_TASKS.empty()


def _rows(table: pa.Table, columns: Sequence[str]) -> list[Row]:
    rows: list[Row] = table.select(columns).to_pylist()
    return rows


def _row(values: list[int], texts: list[str]) -> Row:
    row: Row = {name: None if value == ABSENT else value for name, value in zip(COLUMNS, values, strict=True)}
    del row["partition"]
    for name in ("executor_id", "host"):
        row[name] = texts[row[name]] if row[name] >= 0 else None
    return row


def _keys(stage_ids: NDArray[np.int64], attempts: NDArray[np.int64]) -> NDArray[np.int64]:
    """A stage and its attempt in one number."""
    return (stage_ids << 32) + attempts


def _key(stage_id: int, attempt: int) -> int:
    return (stage_id << 32) + attempt


def _counts(keys: NDArray[np.int64]) -> dict[int, int]:
    distinct, counts = np.unique(keys, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))
