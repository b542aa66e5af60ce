"""Lines of an event log, in order, to the tables and facts of one application."""

from __future__ import annotations

import codecs
import io
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from emberscope.eventlog import events, running, tasks
from emberscope.eventlog.clock import Clock
from emberscope.eventlog.columns import FACTS_COLUMNS, Columns, Routes
from emberscope.eventlog.events import ABSENT, Named, decode
from emberscope.eventlog.lines import Block
from emberscope.eventlog.rows import Files
from emberscope.eventlog.running import RunningTasks
from emberscope.eventlog.task_lines import kinds
from emberscope.eventlog.tasks import Batch, TaskColumns
from emberscope.eventlog.vendor import vendor_of
from emberscope.kernel import NATIVE, Lines
from emberscope.redact import Redactor
from emberscope.tables.run import Application

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PREFIX: Final = b'{"Event":"'
_TASK_END: Final = b'{"Event":"SparkListenerTaskEnd"'
_TASK_START: Final = b'{"Event":"SparkListenerTaskStart"'
_SQL_START: Final = b'SparkListenerSQLExecutionStart"'
_PLAN_TEXT: Final = b',"physicalPlanDescription":'
_TASK_END_NAME: Final = "SparkListenerTaskEnd"
_TASK_START_NAME: Final = "SparkListenerTaskStart"

_COLUMNS: Final = (tasks.COLUMNS, running.COLUMNS)
_WIDTHS: Final = [1 + len(columns) for columns in _COLUMNS]
_NO_ROWS: Final = [np.empty((0, width), np.int64) for width in _WIDTHS]


class Scanned(NamedTuple):
    """Of a block: the number of lines, rows of ends and starts of tasks with their texts, and other lines by number."""

    line_count: int
    rows: Sequence[NDArray[np.int64]]
    texts: list[str]
    lines: list[tuple[int, bytes]]


class Builder:
    """Takes blocks of lines, keeps what the tables need, and gives them at the end.

    Most lines are ends of tasks; they are found by how the line begins and decoded together. All others go to a
    handler by the name of their event; events without a handler are checked, counted and left.
    """

    def __init__(
        self,
        into: Callable[[str, pa.Table], None] | None = None,
        files: Files | None = None,
        *,
        facts_only: bool = False,
    ) -> None:
        """`into` gets every table in parts, with its name, and no more than its facts are kept.

        What the tables are made of lies in `files`. With `facts_only` nothing more is read.
        """
        self.redactor = Redactor()
        self._into = into
        self._facts_only = facts_only
        self.lines = 0
        self.long_lines: list[tuple[int, int]] = []
        self.malformed = 0
        self.event_counts: Counter[str] = Counter()
        self._columns = Columns(self.redactor, into, io.BytesIO if facts_only else files, facts_only=facts_only)
        self.running = RunningTasks()
        self.balance = self._columns.balance
        self.column_notes = self._columns.notes
        self.clock = Clock(self._columns.task_cores)
        repeated = _leave if facts_only else self._columns.repeated.take
        of_tasks = partial(into, "tasks") if into is not None else None
        self._tasks = TaskColumns(self.redactor, self._tasks_ended, repeated, of_tasks, keep=not facts_only)
        self._application: dict[str, Any] = {}
        self._started: dict[tuple[str | None, str | None], None] = {}
        self._last_ms = ABSENT
        self._lines = Lines(kinds(*_COLUMNS))
        self._named = msgspec.json.Decoder(Named)
        self._task_start = msgspec.json.Decoder(events.TaskStart)
        self._handlers = {
            name: (msgspec.json.Decoder(record), handler) for name, (record, handler) in self._routes().items()
        }

    def _routes(self) -> Routes:
        return {
            "SparkListenerLogStart": (events.LogStart, self._log_start),
            "DBCEventLoggingListenerMetadata": (events.LogStart, self._log_start),
            "SparkListenerApplicationStart": (events.ApplicationStart, self._application_start),
            "SparkListenerApplicationEnd": (events.ApplicationEnd, self._application_end),
            "SparkListenerTaskStart": (events.TaskStart, self._task_started),
            **self._columns.routes(),
        }

    def add(self, block: Block, scanned: Scanned) -> list[int]:
        """Takes a block in; gives back the numbers of its malformed lines, counted from 1 over all blocks."""
        if block.long_line_bytes:
            self.lines += 1
            self.long_lines.append((self.lines, block.long_line_bytes))
            self._beginning(block.text)
            return []
        count, (end_rows, start_rows), texts, lines = scanned
        ends: list[bytes] = []
        end_numbers: list[int] = []
        starts: list[tuple[int, events.TaskStart]] = []
        bad: list[int] = []
        task_start = self._task_start.decode
        for number, line in lines:
            if line.startswith(_TASK_END):
                ends.append(line)
                end_numbers.append(number)
                continue
            if line.startswith(_TASK_START):
                try:
                    starts.append((number, task_start(line)))
                    continue
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    pass
            if not self._route(line, number):
                bad.append(number)
        self.running.add(starts, start_rows, texts)
        malformed = self._tasks.add(ends, end_numbers, end_rows, texts)
        self.event_counts[_TASK_END_NAME] += len(ends) + len(end_rows) - len(malformed)
        self.event_counts[_TASK_START_NAME] += len(starts) + len(start_rows)
        bad += malformed
        self.malformed += len(bad)
        first = self.lines
        self.lines += count
        return sorted(first + number for number in bad)

    def scan(self, block: Block) -> Scanned:
        """What there is in a block, before any of it is taken in: other threads may do that."""
        if block.long_line_bytes:
            return Scanned(1, _NO_ROWS, [], [])
        if not NATIVE:
            lines = block.lines()
            return Scanned(len(lines), _NO_ROWS, [], list(enumerate(lines, 1)))
        count, found, texts, others = self._lines.scan(block.text)
        rows = [np.frombuffer(view, np.int64).reshape(-1, n) for view, n in zip(found, _WIDTHS, strict=True)]
        text, at = block.text, others.tolist()
        left = zip(at[::3], at[1::3], at[2::3], strict=True)
        return Scanned(count, rows, texts, [(number, text[start:end]) for number, start, end in left])

    def _beginning(self, text: bytes) -> None:
        """An execution whose plan is too long is there all the same, by what stands before the plan."""
        before, found, _ = text.partition(_PLAN_TEXT)
        if found and _SQL_START in before:
            self._route(before + b"}", 0)

    def _route(self, line: bytes, number: int) -> bool:
        """Handles any line but a plain TaskEnd. False where it is malformed."""
        if not line.startswith(_PREFIX):
            return not line.strip() or self._unusual(line.removeprefix(codecs.BOM_UTF8), number)
        name = line[len(_PREFIX) : line.find(b'"', len(_PREFIX))].decode("utf-8", errors="replace")
        return self._handle(name, line, number)

    def _unusual(self, line: bytes, number: int) -> bool:
        # Other writers may put spaces or another key first; what is no event at all is malformed.
        try:
            name = decode(self._named, line).event
        except msgspec.MsgspecError:
            return False
        if name == _TASK_END_NAME:
            malformed = self._tasks.add([line], [number], _NO_ROWS[0], [])
            self.event_counts[name] += 1 - len(malformed)
            return not malformed
        return self._handle(name, line, number)

    def _handle(self, name: str, line: bytes, number: int) -> bool:
        decoder, handler = self._handlers.get(name.rpartition(".")[2], (self._named, None))
        try:
            event = decode(decoder, line)
        except msgspec.MsgspecError:
            return False
        if handler is not None:
            handler(event)
        self.clock.event(event, self.lines + number)
        self._last_ms = max(self._last_ms, getattr(event, "time_ms", None) or ABSENT)
        self.event_counts[name] += 1
        return True

    def _task_started(self, event: events.TaskStart) -> None:
        self.running.add([(0, event)], _NO_ROWS[1], [])

    def _tasks_ended(self, batch: Batch) -> None:
        self.running.ended(batch.columns, batch.succeeded, batch.again)
        self.balance.tasks_ended(batch.columns, batch.succeeded)
        self.clock.tasks_ended(batch.columns)

    def hosts(self) -> list[str]:
        """The hosts of tasks by their codes in batches."""
        return self._tasks.hosts()

    def _log_start(self, event: events.LogStart) -> None:
        self._application.setdefault("spark_version", event.spark_version)

    def _application_start(self, event: events.ApplicationStart) -> None:
        facts = {
            "app_id": event.app_id,
            "app_name": self.redactor.text(event.name),
            "attempt": event.attempt,
            "user": event.user,
            "app_start_ms": event.time_ms,
        }
        self._application = facts | self._application
        self._started[event.app_id, event.attempt] = None

    def _application_end(self, event: events.ApplicationEnd) -> None:
        self._application |= {"app_end_ms": event.time_ms, "complete": True}

    @property
    def reads_plans(self) -> bool:
        """Whether all is read, and not only what facts need."""
        return not self._facts_only

    @property
    def started(self) -> list[str]:
        """The ids of the applications whose start was seen; more than one where a log was put together by hand."""
        return [" attempt ".join(part for part in started if part) or "one without an id" for started in self._started]

    @property
    def complete(self) -> bool:
        """Whether the application's end was seen."""
        return bool(self._application.get("complete"))

    def tables(self) -> dict[str, pa.Table]:
        """All tables that an event log fills, or those of `FACTS_COLUMNS` and `running_tasks`.

        To be called once, at the end; with `facts_only` any number of times.
        """
        tasks = self._tasks.finish()
        for executor_id, peak in self._tasks.peak_heap_by_executor().items():
            self._columns.executors.peak(executor_id, peak)
        parts: dict[str, list[pa.Table]] = {}
        for name, table in self._columns.tables(last=not self._facts_only):
            if self._into is not None:
                self._into(name, table)
            if self._into is None and not self._facts_only:
                parts.setdefault(name, []).append(table)
            elif name in FACTS_COLUMNS:
                parts.setdefault(name, []).append(table.select(FACTS_COLUMNS[name]))
        tables = {
            name: several[0] if len(several) == 1 else pa.concat_tables(several) for name, several in parts.items()
        }
        end_ms = self._application.get("app_end_ms") or self._seen_until_ms(tables)
        running = self.running.table(tables, end_ms)
        if self._into is not None:
            self._into("running_tasks", running)
        return {**({} if tasks is None else {"tasks": tasks}), **tables, "running_tasks": running}

    def _seen_until_ms(self, tables: dict[str, pa.Table]) -> int | None:
        """The latest time that any event says; None where none says one."""
        import pyarrow.compute as pc

        times = [
            pc.max(tables[table][column]).as_py()
            for table, column in (
                ("jobs", "submitted_ms"),
                ("jobs", "completed_ms"),
                ("stages", "submitted_ms"),
                ("stages", "completed_ms"),
            )
        ]
        last_ms = max([self._last_ms, self._tasks.last_ms, *(t for t in times if t is not None)])
        return last_ms if last_ms > ABSENT else None

    def application(self, tables: dict[str, pa.Table]) -> Application:
        """Identity and facts of the application whose tables these are."""
        settings = self._columns.settings
        log_dir, plugins = settings.get("spark", "spark.eventLog.dir"), settings.get("spark", "spark.plugins")
        version = self._application.get("spark_version")
        return Application(
            **self._application,
            java_version=settings.get("jvm", "Java Version"),
            master=settings.get("spark", "spark.master"),
            vendor=vendor_of(version, +self.event_counts, settings.keys(), log_dir, plugins),
            last_event_ms=self._seen_until_ms(tables),
            lines=self.lines,
            malformed_lines=self.malformed,
            event_counts=dict(sorted((name, n) for name, n in self.event_counts.items() if n)),
            peak_jvm_heap_bytes=max(self._columns.executors.peak_heap.values(), default=None),
            peak_driver_heap_bytes=self._columns.executors.peak_heap.get("driver") or None,
            tasks=self._tasks.totals.result(),
        )


def _leave(line: bytes) -> None:
    """Facts need nothing of it."""
