"""One clock for logs of machines in several time zones, by moments that two of them tell of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from emberscope.logs.head import head_of
from emberscope.sources.kind import read_head, unpack_head
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

_ZONE_MS: Final = 15 * 60_000
"""Zones differ by whole quarters of an hour."""
_NEAR_MS: Final = 3 * 60_000
"""How far apart two machines may tell of one moment."""

_STARTED: Final = re.compile(r"Starting executor ID (?P<executor>\w+) on host")
_REGISTERED: Final = re.compile(r"Registered executor .*with ID (?P<executor>\w+)")


def ahead_of_driver(files: Sequence[str]) -> dict[str, int]:
    """By how many ms the clock of each executor's log is ahead of the driver's, where it is of another zone; executors
    say when they start, and the driver when they register."""
    registered: dict[str, int] = {}
    started: dict[str, dict[str, int]] = {}
    for file in files:
        try:
            text = unpack_head(read_head(Path(file))).decode("utf-8", "replace")
        except OSError:
            continue
        registered |= _moments(text, _REGISTERED)
        started[file] = _moments(text, _STARTED)
    return {file: zone_ms(of_file, registered) for file, of_file in started.items()}


def zone_ms(moments: Mapping[str, int], others: Mapping[str, int]) -> int:
    """By how much one clock is ahead of another, as two tell of the same moments: whole quarters of an hour, 0 where
    that does not explain it or they share no moment."""
    apart = [moments[name] - others[name] for name in moments.keys() & others.keys()]
    if not apart:
        return 0
    middle = median(apart)
    zone = round(middle / _ZONE_MS) * _ZONE_MS
    return zone if abs(middle - zone) <= _NEAR_MS and abs(zone) <= 26 * 3_600_000 else 0


def in_step(runs: Sequence[Run]) -> list[Run]:
    """The runs, with the times of logs in those of the event log of their application: of the one that they name, or of
    the only one."""
    event_logs = [run for run in runs if "tasks" in run.tables and run.application.app_start_ms is not None]
    stepped = []
    for run in runs:
        app_id = run.application.app_id
        theirs = [one for one in event_logs if app_id in (None, one.application.app_id)]
        is_log = "log_events" in run.tables and "tasks" not in run.tables
        stepped.append(
            on_clock_of(run, theirs[0]) if is_log and len({one.application.app_id for one in theirs}) == 1 else run
        )
    return stepped


def on_clock_of(log: Run, event_log: Run) -> Run:
    """The run of a log with its times in those of the event log of its application, which are in UTC."""
    events, executors = log.tables.get("log_events"), event_log.tables.get("executors")
    if events is None:
        return log
    said: dict[str, int] = {}
    for message, time_ms in zip(events["message"].to_pylist(), events["time_ms"].to_pylist(), strict=True):
        found = _REGISTERED.match(message or "") or _STARTED.match(message or "")
        if found is not None and time_ms is not None:
            said.setdefault(found["executor"], time_ms)
    added: dict[str, int] = {}
    if executors is not None:
        pairs = zip(executors["executor_id"].to_pylist(), executors["added_ms"].to_pylist(), strict=True)
        added = {name: time_ms for name, time_ms in pairs if time_ms is not None}
    starts = (log.application.app_start_ms, event_log.application.app_start_ms)
    if starts[0] is not None and starts[1] is not None:
        said["application"], added["application"] = starts[0], starts[1]
    ahead_ms = zone_ms(said, added)
    if not ahead_ms:
        return log
    application = log.application
    moved = replace(
        application,
        app_start_ms=None if application.app_start_ms is None else application.app_start_ms - ahead_ms,
        last_event_ms=None if application.last_event_ms is None else application.last_event_ms - ahead_ms,
    )
    hours = f"{abs(ahead_ms) / 3_600_000:g} h {'ahead of' if ahead_ms > 0 else 'behind'}"
    note = Note("clock_skew", f"The log's clock is {hours} the event log's: its times were put on that.", log.path)
    tables = {**log.tables, "log_events": _moved(events, ahead_ms)}
    return replace(log, application=moved, tables=tables, coverage=log.coverage + Coverage((note,)))


def _moved(events: pa.Table, ahead_ms: int) -> pa.Table:
    import pyarrow.compute as pc

    for name in ("time_ms", "last_ms"):
        at = events.schema.get_field_index(name)
        events = events.set_column(at, events.schema.field(at), pc.subtract(events[name], ahead_ms))
    return events


def _moments(text: str, pattern: re.Pattern[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for match in pattern.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.end()]
        head = head_of(line)
        if head is not None and head.time_ms is not None:
            found.setdefault(match["executor"], head.time_ms)
    return found
