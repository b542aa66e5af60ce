"""What a cluster manager says of one pod, container, node or application, on the way to a row of `log_events`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from emberscope.redact import Redactor
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.logs.signature import Signature

_MOST_TEXT: Final = 8_000


class Statement(Struct, frozen=True):
    """One thing that was said. `text` is `message` and the lines under it; `line` where it stands, from 1.

    Its words are those in which Spark's driver and the cluster manager's own tools say the same, so that one signature
    finds it wherever it stands. `level` is ERROR for what failed, WARN for what hinders, INFO for what went well.
    """

    message: str
    text: str
    line: int | None = None
    time_ms: int | None = None
    level: str = "INFO"
    logger: str = ""
    role: str | None = None
    executor_id: str | None = None
    container_id: str | None = None
    host: str | None = None
    app_id: str | None = None


def table_of(statements: Iterable[Statement], file: str, signatures: Sequence[Signature]) -> pa.Table:
    """The statements as a table of `log_events`, in their order of time, each with the signatures that match it.

    A statement that is made twice in the same words, as an event that is listed again, is one row with a count.
    """
    redactor = Redactor()
    patterns = [(one, re.compile(one.pattern, re.M)) for one in signatures]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for said in statements:
        key = (said.text, said.executor_id, said.container_id, said.host)
        known = rows.get(key)
        if known is None:
            rows[key] = _row(said, file, patterns, redactor)
            continue
        times = [time for time in (known["time_ms"], known["last_ms"], said.time_ms) if time is not None]
        known["count"] += 1
        known["time_ms"], known["last_ms"] = min(times, default=None), max(times, default=None)
    far = float("inf")
    found = sorted(rows.values(), key=lambda row: far if row["time_ms"] is None else row["time_ms"])
    return LOG_EVENTS.from_rows([{**row, "event_id": number} for number, row in enumerate(found)])


def _row(
    said: Statement, file: str, patterns: Sequence[tuple[Signature, re.Pattern[str]]], redactor: Redactor
) -> dict[str, Any]:
    text = redactor.text(said.text) or ""
    matches = {
        one.name: {name: group for name, group in match.groupdict().items() if group is not None}
        for one, pattern in patterns
        if any(literal in text for literal in one.literals) and (match := pattern.search(text))
    }
    return {
        "time_ms": said.time_ms,
        "last_ms": said.time_ms,
        "count": 1,
        "level": said.level,
        "logger": said.logger or None,
        "message": redactor.text(said.message),
        "text": text[:_MOST_TEXT],
        "signatures": list(matches),
        "fields": json.dumps(matches) if matches else None,
        "file": file,
        "line": said.line,
        "role": said.role,
        "executor_id": said.executor_id,
        "container_id": said.container_id,
        "host": said.host,
        "app_id": said.app_id,
    }
