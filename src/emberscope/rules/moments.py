"""When a finding was first seen, and whether it ended anything: by the lines that it quotes, else by the event log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from msgspec.structs import replace

from emberscope.rules.executors.removals import removals
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.logs.signature import Signature
    from emberscope.rules.base import Finding
    from emberscope.tables.run import Run


def first_ms(run: Run, finding: Finding, signatures: Sequence[Signature] = ()) -> int | None:
    """Epoch ms; None where the finding is of no moment: a trouble of a whole stage, or a line without a clock.

    `signatures` are those of its rule: words that stand in an event log have a time and no line. What took an executor
    away was there when the driver removed it, what ended a job when that failed.
    """
    when = _line_times(run)
    quoted = [when[one.source, one.line] for one in finding.evidence if (one.source, one.line) in when]
    if quoted:
        return min(quoted)
    if any(one.line is not None for one in finding.evidence):
        return None
    said_ms = [first for one in signatures if (first := _signature_times(run).get(one.name)) is not None]
    if said_ms:
        return min(said_ms)
    where = finding.where
    if where.executor is not None and finding.consequence in ("lost", "ended"):
        gone = [one.removed_ms for one in removals(run) if one.executor_id == where.executor]
        if gone:
            return min(gone)
    if where.job is not None and finding.consequence == "ended":
        return _job_end_ms(run, where.job)
    return None


def as_it_ended(finding: Finding, run: Run) -> Finding:
    """The finding, with what followed from it as the event log knows: where all jobs and queries succeeded to the end
    of the application, an error that stands in that log alone ended none."""
    if finding.consequence != "ended" or any(one.line is not None for one in finding.evidence):
        return finding
    return replace(finding, consequence="lost") if _went_well(run) else finding


@once
def _went_well(run: Run) -> bool:
    jobs = run.tables.get("jobs")
    if jobs is None or not jobs.num_rows or not run.application.complete:
        return False
    queries = run.tables.get("sql_executions")
    if queries is not None and pc.any(pc.fill_null(pc.equal(queries["status"], "failed"), False)).as_py():
        return False  # it may fail before any job of it has begun: so does a broadcast
    return bool(pc.all(pc.fill_null(pc.equal(jobs["status"], "succeeded"), False)).as_py())


@once
def _line_times(run: Run) -> Mapping[tuple[str, int | None], int]:
    table = run.tables.get("log_events")
    if table is None:
        return {}
    columns = [table[name].to_pylist() for name in ("file", "line", "fields", "time_ms")]
    times: dict[tuple[str, int | None], int] = {}
    for file, line, fields, time_ms in zip(*columns, strict=True):
        if time_ms is not None:
            for one in {line, *_lines_inside(fields)} - {None}:
                times.setdefault((file or "log", one), time_ms)
    return times


@once
def _signature_times(run: Run) -> Mapping[str, int]:
    """When each signature was first matched."""
    table = run.tables.get("log_events")
    if table is None:
        return {}
    times: dict[str, int] = {}
    for names, time_ms in zip(table["signatures"].to_pylist(), table["time_ms"].to_pylist(), strict=True):
        for name in (names or ()) if time_ms is not None else ():
            times[name] = min(time_ms, times.get(name, time_ms))
    return times


def _lines_inside(fields: str | None) -> Iterator[int]:
    """The lines of a record in which signatures were found: a cause is quoted where it stands in its stack trace."""
    try:
        found = json.loads(fields or "{}")
    except ValueError:  # of a table that somebody else made
        return
    for groups in found.values() if isinstance(found, dict) else ():
        line = groups.get("@line") if isinstance(groups, dict) else None
        if isinstance(line, int):
            yield line


def _job_end_ms(run: Run, job: int) -> int | None:
    jobs = run.tables.get("jobs")
    if jobs is None:
        return None
    end: int | None = pc.max(jobs.filter(pc.equal(jobs["job_id"], job))["completed_ms"]).as_py()
    return end
