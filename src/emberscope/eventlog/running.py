"""Tasks that started and did not end: what ran when the application was killed, and what lost its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import astuple

from emberscope.eventlog.balance import TaskCounts
from emberscope.eventlog.events import ABSENT, TaskStart
from emberscope.tables.running_tasks import RUNNING_TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = dict[str, Any]
Key = tuple[int, int]

_INFO: Final = ("task_id", "task_index", "attempt", "partition", "launch_ms")
# What Spark says of a stage that ends because the whole application does (DAGScheduler.cleanUpAfterSchedulerStop).
_SHUT_DOWN: Final = "SparkContext was shut down"
_STAGE_ENDED: Final = frozenset({"succeeded", "failed"})


class RunningTasks:
    """Keeps what has started until it ends, so that it holds no more than what runs at one time (and lost its end).

    `lost` is the number of tasks of succeeded stages whose end is not in the log, known after `table`.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._misfits = 0
        self._started: dict[int, TaskStart] = {}
        self._starts: Counter[Key] = Counter()

    def started(self, event: TaskStart) -> None:
        self._started[event.info.task_id] = event
        self._starts[event.stage_id, event.stage_attempt] += 1

    def ended(self, task_ids: Iterable[int]) -> None:
        for task_id in task_ids:
            self._started.pop(task_id, None)

    def counts(self, ended: NDArray[np.int64]) -> TaskCounts:
        """To be called after `table`; `ended` are the ids of all tasks that ended and were not run again after."""
        distinct = np.unique(ended)
        ids = np.union1d(distinct, np.array(list(self._started), dtype=np.int64))
        ids = ids[ids >= 0]
        return TaskCounts(
            ended=len(distinct),
            open=len(self._started),
            gaps=int(ids[-1]) + 1 - len(ids) if len(ids) else 0,
            starts=self._starts.total(),
            repeated=len(ended) - len(distinct),
            misfits=self._misfits,
        )

    def table(self, tables: Mapping[str, pa.Table], end_ms: int | None) -> pa.Table:
        """The table `running_tasks`, told from the other tables; `end_ms` is the end of what was seen.

        A stage does not succeed without its tasks: where no attempt of a task is seen to end well, its end was lost,
        unless as many tasks of the stage ended as started (then ids do not fit, and nothing is known to be missing).
        A task of a stage that failed, or beside one that ended well (speculation), is killed with its stage; often the
        application ends before that is logged.
        """
        # An end may stand before its start where parts of a log are out of order.
        ids = pa.array(list(self._started), pa.int64())
        self.ended(ids.filter(pc.is_in(ids, tables["tasks"]["task_id"].combine_chunks())).to_pylist())
        if not self._started:
            return RUNNING_TASKS.empty()
        stages = {(row["stage_id"], row["stage_attempt"]): row for row in tables["stages"].to_pylist()}
        jobs = {row["job_id"]: row for row in tables["jobs"].to_pylist()}
        removed = dict(
            zip(*(tables["executors"][name].to_pylist() for name in ("executor_id", "removed_ms")), strict=True)
        )
        without_end: Counter[Key] = Counter()
        succeeded = _succeeded(tables["tasks"], {event.stage_id for event in self._started.values()})
        rows = []
        for event in self._started.values():
            row = _row(event)
            stage = stages.get((event.stage_id, event.stage_attempt), {})
            key = (event.stage_id, event.stage_attempt, row["task_index"])
            if stage.get("status") == "succeeded" and key not in succeeded:
                without_end[key[:2]] += 1
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
        ends = _ends(tables["tasks"])
        self.lost = sum(min(n, max(0, self._starts[key] - ends[key])) for key, n in without_end.items())
        self._misfits = without_end.total() - self.lost
        return RUNNING_TASKS.from_rows(rows) if rows else RUNNING_TASKS.empty()


def _row(event: TaskStart) -> Row:
    numbers = dict(zip(_INFO, astuple(event.info), strict=False))
    del numbers["partition"]
    return {
        "stage_id": event.stage_id,
        "stage_attempt": event.stage_attempt,
        **{name: None if value == ABSENT else value for name, value in numbers.items()},
        "executor_id": event.info.executor_id,
        "host": event.info.host,
    }


def _ends(tasks: pa.Table) -> Counter[Key]:
    """How many attempts of each stage attempt's tasks ended."""
    columns = (tasks["stage_id"].to_numpy(), tasks["stage_attempt"].to_numpy())
    keys, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    return Counter({(int(key[0]), int(key[1])): int(count) for key, count in zip(keys, counts, strict=True)})


def _succeeded(tasks: pa.Table, stage_ids: set[int]) -> set[tuple[int, int, int]]:
    """Stage, attempt and index of the tasks of these stages that ended well."""
    good = pc.and_(
        pc.is_in(tasks["stage_id"], pa.array(sorted(stage_ids), pa.int32())),
        pc.equal(tasks["status"].cast(pa.string()), "success"),
    )
    columns = tasks.filter(good).select(["stage_id", "stage_attempt", "task_index"])
    return set(zip(*(columns[name].to_pylist() for name in columns.column_names), strict=True))
