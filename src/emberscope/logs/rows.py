"""What was read of logs, as table `log_events` in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emberscope.logs.folding import Folded
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    import pyarrow as pa


def table_of(rows: Sequence[Folded]) -> pa.Table:
    """The rows, those without a time where they were read."""
    known = float("-inf")
    placed: list[tuple[float, int, Folded]] = []
    for number, row in enumerate(rows):
        known = row.time_ms if row.time_ms is not None else known
        placed.append((known, number, row))
    placed.sort(key=lambda item: item[:2])
    return LOG_EVENTS.from_rows(
        [
            {"event_id": number, "time_ms": row.time_ms, "last_ms": row.last_ms, "count": row.count, **row.values}
            | {"file": _valid(row.values.get("file"))}
            for number, (_, _, row) in enumerate(placed)
        ]
    )


def _valid(path: str | None) -> str | None:
    """A name of a file may hold bytes that are no UTF-8; a table cannot."""
    return None if path is None else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
