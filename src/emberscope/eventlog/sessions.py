"""Sessions of clients and their operations: Spark Connect and the Thrift server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import Int, Record
from emberscope.eventlog.rows import Files, Kept, Row, rows_with
from emberscope.redact import Redactor, shorten
from emberscope.tables.sessions import SESSIONS
from emberscope.tables.statements import STATEMENTS

field: Final = msgspec.field
_CONNECT: Final = "connect"
_THRIFT: Final = "thrift"

PART_ROWS: Final = 1 << 12


class ConnectSession(Record, frozen=True):
    session_id: str = field(name="sessionId")
    user: str | None = field(name="userId", default=None)
    event_ms: Int | None = field(name="eventTime", default=None)


class ConnectOperation(Record, frozen=True):
    """Any event of an operation; only the first one tells the session, the user and the statement."""

    operation_id: str = field(name="operationId")
    event_ms: Int | None = field(name="eventTime", default=None)
    job_tag: str | None = field(name="jobTag", default=None)
    session_id: str | None = field(name="sessionId", default=None)
    user_name: str | None = field(name="userName", default=None)
    user_id: str | None = field(name="userId", default=None)
    text: str | None = field(name="statementText", default=None)
    error: str | None = field(name="errorMessage", default=None)
    rows: Int | None = field(name="producedRowCount", default=None)
    tags: list[str] | None = field(name="sparkSessionTags", default=None)


class ThriftSession(Record, frozen=True):
    session_id: str = field(name="sessionId")
    user: str | None = field(name="userName", default=None)
    host: str | None = field(name="ip", default=None)
    start_ms: Int | None = field(name="startTime", default=None)
    finish_ms: Int | None = field(name="finishTime", default=None)


class ThriftOperation(Record, frozen=True):
    statement_id: str = field(name="id")
    session_id: str | None = field(name="sessionId", default=None)
    user: str | None = field(name="userName", default=None)
    group: str | None = field(name="groupId", default=None)
    text: str | None = field(name="statement", default=None)
    start_ms: Int | None = field(name="startTime", default=None)
    finish_ms: Int | None = field(name="finishTime", default=None)
    close_ms: Int | None = field(name="closeTime", default=None)
    error: str | None = field(name="errorMsg", default=None)


class SessionColumns:
    """Collects the events of both servers. With `files` statements lie there; without `keep` nothing is kept."""

    def __init__(self, redactor: Redactor, files: Files | None = None, *, keep: bool = True) -> None:
        self._redactor = redactor
        self._keep = keep
        self._in_parts = files is not None
        self._sessions: dict[str, Row] = {}
        self._numbers: dict[str, int] = {}
        self._statements = Kept(rows_with([column.name for column in STATEMENTS.columns]), files and files())

    def connect_started(self, event: ConnectSession) -> None:
        self._session(event.session_id, _CONNECT).update(user=event.user or None, started_ms=event.event_ms)

    def connect_closed(self, event: ConnectSession) -> None:
        row = self._session(event.session_id, _CONNECT)
        row["closed_ms"] = event.event_ms
        row.setdefault("user", event.user or None)

    def operation_started(self, event: ConnectOperation) -> None:
        self._statement(event.operation_id, _CONNECT).update(
            session_id=event.session_id,
            user=event.user_name or event.user_id or None,
            tags=self._redactor.texts(event.tags),
            job_tag=self._redactor.text(event.job_tag),
            text=self._text(event.text),
            started_ms=event.event_ms,
        )

    def operation_analyzed(self, event: ConnectOperation) -> None:
        self._statement(event.operation_id, _CONNECT)["analyzed_ms"] = event.event_ms

    def operation_ready(self, event: ConnectOperation) -> None:
        self._statement(event.operation_id, _CONNECT)["ready_ms"] = event.event_ms

    def operation_finished(self, event: ConnectOperation) -> None:
        row = self._statement(event.operation_id, _CONNECT)
        row.update(finished_ms=event.event_ms, status="succeeded", rows=event.rows)

    def operation_failed(self, event: ConnectOperation) -> None:
        row = self._statement(event.operation_id, _CONNECT)
        row.update(finished_ms=event.event_ms, status="failed", error_message=self._text(event.error))

    def operation_canceled(self, event: ConnectOperation) -> None:
        self._statement(event.operation_id, _CONNECT).update(finished_ms=event.event_ms, status="canceled")

    def operation_closed(self, event: ConnectOperation) -> None:
        self._statement(event.operation_id, _CONNECT)["closed_ms"] = event.event_ms

    def thrift_created(self, event: ThriftSession) -> None:
        row = self._session(event.session_id, _THRIFT)
        row.update(user=event.user, client_host=event.host, started_ms=event.start_ms)

    def thrift_closed(self, event: ThriftSession) -> None:
        self._session(event.session_id, _THRIFT)["closed_ms"] = event.finish_ms

    def statement_started(self, event: ThriftOperation) -> None:
        self._statement(event.statement_id, _THRIFT).update(
            session_id=event.session_id,
            user=event.user,
            job_tag=event.group,
            text=self._text(event.text),
            started_ms=event.start_ms,
        )

    def statement_finished(self, event: ThriftOperation) -> None:
        self._statement(event.statement_id, _THRIFT).update(finished_ms=event.finish_ms, status="succeeded")

    def statement_failed(self, event: ThriftOperation) -> None:
        row = self._statement(event.statement_id, _THRIFT)
        row.update(finished_ms=event.finish_ms, status="failed", error_message=self._text(event.error))

    def statement_canceled(self, event: ThriftOperation) -> None:
        self._statement(event.statement_id, _THRIFT).update(finished_ms=event.finish_ms, status="canceled")

    def statement_closed(self, event: ThriftOperation) -> None:
        self._statement(event.statement_id, _THRIFT)["closed_ms"] = event.close_ms

    def _text(self, text: str | None) -> str | None:
        return self._redactor.text(shorten(text))

    def _session(self, session_id: str, server: str) -> Row:
        new = {"session_id": session_id, "server": server}
        return self._sessions.setdefault(session_id, new) if self._keep else new

    def _statement(self, statement_id: str, server: str) -> Row:
        new = {"statement_id": statement_id, "server": server, "status": "unfinished"}
        if not self._keep:
            return new
        row = self._statements.of(self._numbers.setdefault(statement_id, len(self._numbers)))
        if not row:
            row |= new
        return row

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """Tables `sessions` and `statements`, the second with files in parts."""
        yield "sessions", SESSIONS.from_rows(list(self._sessions.values()))
        numbers = self._statements.pairs()[0].tolist()
        part = PART_ROWS if self._in_parts else max(1, len(numbers))
        for start in range(0, max(1, len(numbers)), part):
            rows = [self._statements.take(number) for number in numbers[start : start + part]]
            yield "statements", STATEMENTS.from_rows(rows)
