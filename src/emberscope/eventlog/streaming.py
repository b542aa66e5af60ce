"""Structured streaming: runs of queries, and the progress of their batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import Int, Record
from emberscope.redact import Redactor, shorten
from emberscope.tables.streaming_batches import STREAMING_BATCHES
from emberscope.tables.streaming_queries import STREAMING_QUERIES

Row = dict[str, Any]

PART_ROWS: Final = 1 << 12
_STEPS: Final = {
    "triggerExecution": "trigger_execution_ms",
    "latestOffset": "latest_offset_ms",
    "getBatch": "get_batch_ms",
    "queryPlanning": "query_planning_ms",
    "addBatch": "add_batch_ms",
    "walCommit": "wal_commit_ms",
    "commitOffsets": "commit_offsets_ms",
}
_STATE: Final = {
    "numRowsTotal": "state_rows",
    "numRowsUpdated": "state_rows_updated",
    "numRowsRemoved": "state_rows_removed",
    "memoryUsedBytes": "state_memory_bytes",
    "commitTimeMs": "state_commit_ms",
    "numRowsDroppedByWatermark": "rows_dropped_by_watermark",
}


class QueryStarted(Record, frozen=True):
    query_id: str | None = msgspec.field(name="id", default=None)
    run_id: str | None = msgspec.field(name="runId", default=None)
    name: str | None = None
    timestamp: str | None = None
    job_tags: list[str] | None = msgspec.field(name="jobTags", default=None)


class QueryTerminated(Record, frozen=True):
    query_id: str | None = msgspec.field(name="id", default=None)
    run_id: str | None = msgspec.field(name="runId", default=None)
    exception: str | None = None
    error_class: str | None = msgspec.field(name="errorClassOnException", default=None)


class Source(Record, frozen=True):
    description: str | None = None
    rows: Int | None = msgspec.field(name="numInputRows", default=None)
    # Also "NaN" and null, as a first trigger has no time before it.
    came: float | str | None = msgspec.field(name="inputRowsPerSecond", default=None)
    done: float | str | None = msgspec.field(name="processedRowsPerSecond", default=None)


class Sink(Record, frozen=True):
    description: str | None = None
    rows: Int | None = msgspec.field(name="numOutputRows", default=None)


class Progress(Record, frozen=True):
    query_id: str | None = msgspec.field(name="id", default=None)
    run_id: str | None = msgspec.field(name="runId", default=None)
    name: str | None = None
    timestamp: str | None = None
    batch_id: Int | None = msgspec.field(name="batchId", default=None)
    batch_duration_ms: Int | None = msgspec.field(name="batchDuration", default=None)
    steps_ms: dict[str, Int] = msgspec.field(name="durationMs", default={})
    event_time: dict[str, str] = msgspec.field(name="eventTime", default={})
    state: list[dict[str, Any]] = msgspec.field(name="stateOperators", default=[])
    sources: list[Source] = msgspec.field(default=[])
    sink: Sink = Sink()


class QueryProgress(Record, frozen=True):
    progress: Progress = Progress()


class StreamingColumns:
    """Collects the events of streaming queries. Batches are passed to `into` a part at a time, where it is given."""

    def __init__(
        self, redactor: Redactor, into: Callable[[pa.Table], None] | None = None, *, keep: bool = True
    ) -> None:
        self._redactor = redactor
        self._into = into
        self._keep = keep
        self._queries: dict[str | None, Row] = {}
        self._batches: list[Row] = []

    def started(self, event: QueryStarted) -> None:
        row = self._query(event.query_id, event.run_id)
        row |= {
            "name": self._redactor.text(event.name),
            "started_ms": _epoch_ms(event.timestamp),
            "job_tags": self._redactor.texts(event.job_tags),
        }

    def terminated(self, event: QueryTerminated) -> None:
        row = self._query(event.query_id, event.run_id)
        row |= {
            "status": "failed" if event.exception else "stopped",
            "error_message": self._redactor.text(shorten(event.exception)) or None,
            "error_class": event.error_class,
        }

    def progressed(self, event: QueryProgress) -> None:
        progress = event.progress
        query = self._query(progress.query_id, progress.run_id)
        query["batch_count"] += 1
        name = self._redactor.text(progress.name)
        query.setdefault("name", name)
        steps = progress.steps_ms
        whole = progress.batch_duration_ms
        output = progress.sink.rows
        row: Row = {
            "query_id": progress.query_id,
            "run_id": progress.run_id,
            "name": name,
            "batch_id": progress.batch_id,
            "started_ms": _epoch_ms(progress.timestamp),
            "duration_ms": steps.get("triggerExecution") if whole is None else whole,
            **{column: steps.get(step) for step, column in _STEPS.items()},
            "input_rows": _sum([source.rows for source in progress.sources]),
            "input_rows_per_second": _sum([_number(source.came) for source in progress.sources]),
            "processed_rows_per_second": _sum([_number(source.done) for source in progress.sources]),
            "output_rows": None if output is None or output < 0 else output,
            "watermark_ms": _epoch_ms(progress.event_time.get("watermark")) or None,
            **{column: _sum([_integer(each.get(key)) for each in progress.state]) for key, column in _STATE.items()},
            "sources": [self._redactor.text(shorten(source.description)) for source in progress.sources],
            "sink": self._redactor.text(shorten(progress.sink.description)),
        }
        if self._keep:
            self._batches.append(row)
        if self._into is not None and len(self._batches) >= PART_ROWS:
            self._into(self._take())

    def _take(self) -> pa.Table:
        batches, self._batches = self._batches, []
        return STREAMING_BATCHES.from_rows(batches)

    def _query(self, query_id: str | None, run_id: str | None) -> Row:
        new = {"query_id": query_id, "run_id": run_id, "status": "unfinished", "batch_count": 0}
        return self._queries.setdefault(run_id, new)

    def tables(self) -> dict[str, pa.Table]:
        """Tables `streaming_queries` and `streaming_batches`."""
        return {
            "streaming_queries": STREAMING_QUERIES.from_rows(list(self._queries.values())),
            "streaming_batches": self._take(),
        }


def _epoch_ms(text: str | None) -> int | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round(time.timestamp() * 1000) if time.tzinfo else None


def _number(value: float | str | None) -> float | None:
    return value if isinstance(value, float | int) else None


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and abs(value) < 2**63 else None


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum of what is known; null where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
