"""Clocks that do not agree: times of an event log that cannot be, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from emberscope.eventlog.balance import StageTasks, numpy_of
from emberscope.eventlog.events import ABSENT
from emberscope.eventlog.places import keys_of
from emberscope.tables.coverage import Note
from emberscope.units import format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What two readings of one clock may differ by, in threads that take turns: nothing is said of less.
_SLACK_MS: Final = 100
# Events wait for a busy driver before they are written, so that their times may be out of order by as much.
_LATE_MS: Final = 60_000


class Clock:
    """Takes the times of events in the order of the log, and of tasks in batches; `notes` says what cannot be.

    All times in an event log are the driver's, and only lengths are the executors'. So a clock that jumped shows in the
    order of events and where something ends before it starts, and one that runs differently where a task ran for
    longer than it was there.
    """

    def __init__(self, task_cores: Callable[[int], float]) -> None:
        """`task_cores` says how many cores each task of a stage has, by the stage's id."""
        self._task_cores = task_cores
        self._latest_ms = 0
        self._back: tuple[int, int] = (0, 0)
        self._negative_ms = 0
        self._longer: dict[int, int] = {}

    def event(self, event: Any, line: int) -> None:
        """Any event but those of tasks, with the number of its line."""
        time_ms = _time_ms(event)
        if time_ms is None or time_ms <= 0:
            return
        back_ms = self._latest_ms - time_ms
        if back_ms > _LATE_MS:
            self._back = max(self._back, (back_ms, line))
            # From here on the clock is the new one: one jump is told once.
            self._latest_ms = time_ms
        self._latest_ms = max(self._latest_ms, time_ms)

    def tasks_ended(self, columns: Mapping[str, NDArray[np.int64]]) -> None:
        """A batch of columns of table `tasks`; `host` as codes."""
        launch, finish, ran = (columns[name] for name in ("launch_ms", "finish_ms", "executor_run_time_ms"))
        there = (launch > 0) & (finish > 0)
        if not there.any():
            return
        span = (finish - launch)[there]
        self._negative_ms = max(self._negative_ms, int(-span.min()))
        ran = np.where(ran == ABSENT, 0, ran)[there]
        suspects = np.flatnonzero((ran - span > _SLACK_MS) & (span >= 0))
        if not len(suspects):
            return
        # Spark 4.1 and later multiply a task's run time by its cores.
        stages, of_suspect = np.unique(columns["stage_id"][there][suspects], return_inverse=True)
        cores = np.array([max(1.0, self._task_cores(stage)) for stage in stages.tolist()])[of_suspect]
        over = ran[suspects] / cores - span[suspects]
        for suspect, over_ms in zip(suspects[over > _SLACK_MS], over[over > _SLACK_MS].tolist(), strict=True):
            host = int(columns["host"][there][suspect])
            self._longer[host] = max(self._longer.get(host, 0), int(over_ms))

    def notes(self, tables: Mapping[str, pa.Table], stages: StageTasks, hosts: list[str]) -> list[Note]:
        """Each kind of contradiction with its largest size."""
        found = []
        if self._back[0]:
            found.append((f"The driver's clock went back by {format_ms(self._back[0])}", f"line {self._back[1]}"))
        before = max(self._negative_ms, *(_backwards(tables[name], start, end) for name, start, end in _SPANS))
        if before > _SLACK_MS:
            found.append((f"Tasks, stages or jobs end up to {format_ms(before)} before they start", ""))
        early = _early(tables["stages"], stages)
        if early > _SLACK_MS:
            found.append((f"Tasks are launched up to {format_ms(early)} before their stage is submitted", ""))
        for host, longer in sorted(self._longer.items(), key=lambda item: -item[1])[:3]:
            name = hosts[host] if 0 <= host < len(hosts) else "a host"
            found.append((f"Tasks ran for up to {format_ms(longer)} more than they were there", name))
        return [
            Note(
                "clock_skew",
                f"{what}: a clock jumped, or clocks of hosts disagree, and times are wrong by as much.",
                at,
            )
            for what, at in found
        ]


_SPANS: Final = (
    ("stages", "submitted_ms", "completed_ms"),
    ("jobs", "submitted_ms", "completed_ms"),
    ("sql_executions", "started_ms", "ended_ms"),
)


def _backwards(table: pa.Table, start: str, end: str) -> int:
    """By how much an end lies before its start at most."""
    import pyarrow.compute as pc

    # As floats: what is between two times of a broken log may not fit into an integer.
    times = [table[name].cast(pa.float64(), safe=False) for name in (start, end)]
    return max(0, int(pc.max(pc.subtract(*times)).as_py() or 0))


def _early(table: pa.Table, stages: StageTasks) -> int:
    """By how much the first task of a stage is launched before its submission at most."""
    submitted = numpy_of(table["submitted_ms"], 0)
    keys = keys_of(numpy_of(table["stage_id"], 0), numpy_of(table["stage_attempt"], 0))[submitted != 0]
    with_tasks = stages.keys()
    if not len(keys) or not len(with_tasks):
        return 0
    order = np.argsort(with_tasks)
    at = order[np.minimum(np.searchsorted(with_tasks, keys, sorter=order), len(order) - 1)]
    launched = np.array(stages.first_launch_ms, dtype=np.int64)[at]
    seen = (with_tasks[at] == keys) & (launched >= 0)
    early = submitted[submitted != 0][seen] - launched[seen]
    return max(0, int(early.max(initial=0)))


def _time_ms(event: Any) -> int | None:
    """When an event happened by its own account; None for an application's start, which is told long after it."""
    stage = getattr(event, "stage", None)
    for holder in (event, stage):
        for name in ("completed_ms", "submitted_ms"):
            if (value := getattr(holder, name, None)) is not None:
                return int(value)
    if hasattr(event, "app_id"):
        return None
    value = getattr(event, "time_ms", None)
    return None if value is None else int(value)
