"""What repeated tasks added to the metrics of plans, to tell the last attempt from the total.

Spark's own pages forget what an earlier attempt of a stage counted when the next one starts, and an update of a task
when the next attempt of that task updates the same accumulator, until one attempt has succeeded; then they ignore the
others (SQLAppStatusListener). An accumulator itself counts all of them. So the accumulators of those tasks must be
read, and only of those: few tasks are repeated, and accumulators are most of a log's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from emberscope.eventlog.accumulables import integer
from emberscope.eventlog.events import ABSENT, NO_RAW, EndReason, Id, Int, Record, decode

field: Final = msgspec.field


class TaskUpdate(Record, frozen=True):
    id: Int = field(name="ID")
    update: Raw = field(name="Update", default=NO_RAW)
    name: str | None = field(name="Name", default=None)


class UpdatingTask(Record, frozen=True):
    task_id: Int = field(name="Task ID")
    task_index: Id = field(name="Index", default=ABSENT)
    attempt: Id = field(name="Attempt", default=ABSENT)
    accumulables: list[TaskUpdate] = field(name="Accumulables", default=[])


class UpdatingTaskEnd(Record, frozen=True):
    """The end of a task with what it added to accumulators, and without its metrics."""

    reason: EndReason = field(name="Task End Reason")
    info: UpdatingTask = field(name="Task Info")
    stage_id: Id = field(name="Stage ID")
    stage_attempt: Id = field(name="Stage Attempt ID", default=0)

    @property
    def succeeded(self) -> bool:
        return self.reason.reason == "Success"

    def updates(self) -> Iterator[tuple[int, int]]:
        """Accumulator and integer update, without what only repeats the task's metrics."""
        for each in self.info.accumulables:
            if each.name is None or not each.name.startswith("internal."):
                update = integer(each.update)
                if update is not None:
                    yield each.id, update


Sums = dict[int, int]
Stage = tuple[int, int]


class _Index:
    """The attempts of one task until one succeeds: what Spark's pages show of it, and all that was added."""

    __slots__ = ("added", "first_seen", "shown")

    def __init__(self) -> None:
        self.added: Sums = {}
        self.shown: Sums = {}
        self.first_seen = False


class _StageAttempt:
    """The tasks of one stage attempt. Those that are done are summed, so that a million of them need no memory."""

    __slots__ = ("_done", "_hidden", "_open", "_shown")

    def __init__(self) -> None:
        self._done: set[int] = set()
        self._open: dict[int, _Index] = {}
        self._shown: Sums = {}
        self._hidden: Sums = {}

    def take(self, task: UpdatingTaskEnd) -> None:
        if task.info.task_index in self._done:
            _add(self._hidden, dict(task.updates()))
            return
        index = self._open.setdefault(task.info.task_index, _Index())
        index.first_seen |= task.info.attempt == 0
        updates = dict(task.updates())
        _add(index.added, updates)
        index.shown.update(updates)
        if task.succeeded:
            _add(self._shown, index.shown)
            _add(self._hidden, index.added)
            _add(self._hidden, index.shown, -1)
            del self._open[task.info.task_index]
            self._done.add(task.info.task_index)

    def shown(self) -> Sums:
        """What the pages show of these tasks."""
        sums = dict(self._shown)
        for index in self._open.values():
            _add(sums, index.shown)
        return sums

    def hidden(self) -> Sums:
        """What these tasks added beyond what the pages show, where first attempts that succeed are not among them."""
        sums = dict(self._hidden)
        for index in self._open.values():
            _add(sums, index.added)
            # Where neither the first attempt nor a success is here, the first one succeeded, and that shows.
            if index.first_seen:
                _add(sums, index.shown, -1)
        return sums


def _add(sums: Sums, more: Sums, sign: int = 1) -> None:
    for accumulator_id, value in more.items():
        sums[accumulator_id] = sums.get(accumulator_id, 0) + sign * value


class RepeatedTasks:
    """Collects the updates of all tasks that `is_repeated`."""

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(UpdatingTaskEnd)
        self._stages: dict[Stage, _StageAttempt] = {}
        self._last: dict[int, int] = {}

    def take(self, line: bytes) -> None:
        """The line of a repeated task's end, in the order of the log. One that is malformed counts elsewhere."""
        try:
            task: UpdatingTaskEnd = decode(self._decoder, line)
        except msgspec.MsgspecError:
            return
        self._stages.setdefault((task.stage_id, task.stage_attempt), _StageAttempt()).take(task)
        self.submitted(task.stage_id, task.stage_attempt)

    def submitted(self, stage_id: int, stage_attempt: int) -> None:
        if stage_attempt:
            self._last[stage_id] = max(stage_attempt, self._last.get(stage_id, 0))

    def repeated_stage(self, stage_id: int) -> bool:
        """Whether a second attempt of the stage was submitted."""
        return stage_id in self._last

    def last_attempt(self, stage_id: int) -> Mapping[int, int]:
        """What the pages show of the last attempt of a repeated stage, by accumulator."""
        attempt = self._stages.get((stage_id, self._last.get(stage_id, 0)))
        return attempt.shown() if attempt else {}

    def not_shown(self, stage_id: int) -> Mapping[int, int]:
        """What repeated tasks of a stage's only attempt added and the pages do not show, by accumulator."""
        attempt = self._stages.get((stage_id, 0))
        return attempt.hidden() if attempt else {}


def is_repeated(stage_attempt: int, attempt: int, succeeded: bool) -> bool:
    """Whether a task, its stage or it itself, may have more than one attempt (`attempt` is that of the task)."""
    return stage_attempt > 0 or attempt > 0 or not succeeded
