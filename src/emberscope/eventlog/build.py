"""Lines of an event log, in order, to the tables and facts of one application."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import msgspec
import pyarrow as pa

from emberscope.eventlog import events
from emberscope.eventlog.clock import Clock
from emberscope.eventlog.columns import Columns, Routes
from emberscope.eventlog.events import ABSENT, Named, decode
from emberscope.eventlog.lines import Block
from emberscope.eventlog.running import RunningTasks
from emberscope.eventlog.tasks import TaskColumns
from emberscope.redact import Redactor
from emberscope.tables.run import Application

_PREFIX: Final = b'{"Event":"'
_TASK_END: Final = b'{"Event":"SparkListenerTaskEnd"'
_TASK_START: Final = b'{"Event":"SparkListenerTaskStart"'
_TASK_END_NAME: Final = "SparkListenerTaskEnd"


class Builder:
    """Takes blocks of lines, keeps what the tables need, and gives them at the end.

    Most lines are ends of tasks; they are found by how the line begins and decoded together. All others go to a
    handler by the name of their event; events without a handler are checked, counted and left.
    """

    def __init__(self) -> None:
        self.redactor = Redactor()
        self.lines = 0
        self.malformed = 0
        self.event_counts: Counter[str] = Counter()
        self._columns = Columns(self.redactor)
        self.running = RunningTasks()
        self.balance = self._columns.balance
        self.clock = Clock()
        self._tasks = TaskColumns(self.redactor, self.running.ended, self._columns.repeated.take)
        self._application: dict[str, Any] = {}
        self._last_ms = ABSENT
        self._named = msgspec.json.Decoder(Named)
        self._task_start = msgspec.json.Decoder(events.TaskStart)
        self._handlers = {
            name: (msgspec.json.Decoder(record), handler) for name, (record, handler) in self._routes().items()
        }

    def _routes(self) -> Routes:
        return {
            "SparkListenerLogStart": (events.LogStart, self._log_start),
            "DBCEventLoggingListenerMetadata": (events.LogStart, self._databricks_start),
            "SparkListenerApplicationStart": (events.ApplicationStart, self._application_start),
            "SparkListenerApplicationEnd": (events.ApplicationEnd, self._application_end),
            "SparkListenerTaskStart": (events.TaskStart, self.running.started),
            **self._columns.routes(),
        }

    def add(self, block: Block) -> list[int]:
        """Takes a block in; gives back the numbers of its malformed lines."""
        self.lines += len(block.lines)
        task_ends: list[bytes] = []
        bad: list[int] = []
        started: list[events.TaskStart] = []
        task_start = self._task_start.decode
        for number, line in enumerate(block.lines, block.first):
            if line.startswith(_TASK_END):
                task_ends.append(line)
                continue
            if line.startswith(_TASK_START):
                try:
                    started.append(task_start(line))
                    continue
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    pass
            if not self._route(line):
                bad.append(number)
        for event in started:
            self.running.started(event)
        malformed = self._tasks.add(task_ends)
        self.event_counts[_TASK_END_NAME] += len(task_ends) - len(malformed)
        self.event_counts["SparkListenerTaskStart"] += len(started)
        if malformed:
            culprits = {id(line) for line in malformed}
            bad += [number for number, line in enumerate(block.lines, block.first) if id(line) in culprits]
        self.malformed += len(bad)
        return sorted(bad)

    def _route(self, line: bytes) -> bool:
        """Handles any line but a plain TaskEnd. False where it is malformed."""
        if not line.startswith(_PREFIX):
            return not line.strip() or self._unusual(line)
        name = line[len(_PREFIX) : line.find(b'"', len(_PREFIX))].decode("utf-8", errors="replace")
        return self._handle(name, line)

    def _unusual(self, line: bytes) -> bool:
        # Other writers may put spaces or another key first; what is no event at all is malformed.
        try:
            name = decode(self._named, line).event
        except msgspec.MsgspecError:
            return False
        if name == _TASK_END_NAME:
            malformed = self._tasks.add([line])
            self.event_counts[name] += 1 - len(malformed)
            return not malformed
        return self._handle(name, line)

    def _handle(self, name: str, line: bytes) -> bool:
        decoder, handler = self._handlers.get(name.rpartition(".")[2], (self._named, None))
        try:
            event = decode(decoder, line)
        except msgspec.MsgspecError:
            return False
        if handler is not None:
            handler(event)
        self.clock.event(event, self.lines)
        self._last_ms = max(self._last_ms, getattr(event, "time_ms", None) or ABSENT)
        self.event_counts[name] += 1
        return True

    def _log_start(self, event: events.LogStart) -> None:
        self._application.setdefault("spark_version", event.spark_version)
        if event.spark_version and "amzn" in event.spark_version:
            self._application["vendor"] = "emr"

    def _databricks_start(self, event: events.LogStart) -> None:
        self._application.setdefault("spark_version", event.spark_version)
        self._application["vendor"] = "databricks"

    def _application_start(self, event: events.ApplicationStart) -> None:
        facts = {
            "app_id": event.app_id,
            "app_name": self.redactor.text(event.name),
            "attempt": event.attempt,
            "user": event.user,
            "app_start_ms": event.time_ms,
        }
        self._application = facts | self._application

    def _application_end(self, event: events.ApplicationEnd) -> None:
        self._application |= {"app_end_ms": event.time_ms, "complete": True}

    def tables(self) -> dict[str, pa.Table]:
        """All tables that an event log fills. To be called once, at the end."""
        for executor_id, peak in self._tasks.peak_heap_by_executor().items():
            self._columns.executors.peak(executor_id, peak)
        tables = {"tasks": self._tasks.table(), **self._columns.tables()}
        end_ms = self._application.get("app_end_ms") or self._seen_until_ms(tables)
        return {**tables, "running_tasks": self.running.table(tables, end_ms)}

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
        return Application(
            **self._application,
            java_version=self._columns.settings.get("jvm", "Java Version"),
            master=self._columns.settings.get("spark", "spark.master"),
            last_event_ms=self._seen_until_ms(tables),
            lines=self.lines,
            malformed_lines=self.malformed,
            event_counts=dict(sorted((name, n) for name, n in self.event_counts.items() if n)),
            peak_jvm_heap_bytes=max(self._columns.executors.peak_heap.values(), default=None),
            peak_driver_heap_bytes=self._columns.executors.peak_heap.get("driver") or None,
        )
