"""What logs said, as rules ask for it: the records that a signature matches, in order of time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Evidence
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_MOST_QUOTED: Final = 300


class Said(Struct, frozen=True):
    """One row of `log_events`; `fields` are the named groups of the signature that was asked for, `line` and `message`
    the line of the record in which it was found."""

    event_id: int
    time_ms: int | None
    last_ms: int | None
    count: int
    level: str | None
    message: str
    text: str
    exception: str | None
    causes: tuple[str, ...]
    fields: Mapping[str, str]
    file: str | None
    line: int | None
    role: str | None
    executor_id: str | None
    container_id: str | None
    host: str | None

    def evidence(self) -> Evidence:
        """The line as a quotation."""
        quoted = self.message if len(self.message) <= _MOST_QUOTED else self.message[:_MOST_QUOTED] + "…"
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        return Evidence(f"“{quoted}”{times}", self.file or "log", line=self.line)


def said(run: Run, signature: str) -> tuple[Said, ...]:
    """What a signature matched, the first first; those without a time last."""
    return _by_signature(run).get(signature, ())


@once
def _by_signature(run: Run) -> Mapping[str, tuple[Said, ...]]:
    table = run.tables.get("log_events")
    found: dict[str, list[Said]] = defaultdict(list)
    for row in table.to_pylist() if table is not None else ():
        if not row["signatures"]:
            continue
        groups = json.loads(row["fields"] or "{}")
        for name in row["signatures"]:
            taken = {key: row[key] for key in Said.__struct_fields__ if key not in ("fields", "causes")}
            fields = {key: value for key, value in groups.get(name, {}).items() if not key.startswith("@")}
            # Where in the record it stands: the cause at the end of a trace is quoted as what it is.
            for key in ("line", "message"):
                taken[key] = groups.get(name, {}).get(f"@{key}", taken[key])
            found[name].append(Said(**taken, causes=tuple(row["causes"] or ()), fields=fields))
    far = float("inf")
    return {
        name: tuple(sorted(rows, key=lambda row: (far if row.time_ms is None else row.time_ms, row.event_id)))
        for name, rows in found.items()
    }
