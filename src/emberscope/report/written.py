"""The facts of logs: how much was written, when, and which warnings and errors are the commonest; nothing judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from emberscope.logs.clock import spoken
from emberscope.units import counted, format_count

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_MOST: Final = 20
_SHOWN: Final = 5
_LEVELS: Final = ("FATAL", "ERROR", "WARN")


def written(run: Run, kind: str) -> dict[str, Any] | None:
    """The object of a log in `summary --json`; None where the run is of something else too, or has no lines of logs.

    `records` counts records by level, of those that are kept: what is bad by its writer's word. `commonest` are
    [message, level, records], the first words of each kind of record.
    """
    events = run.tables.get("log_events")
    if events is None or "stages" in run.tables or "samples" in run.tables:
        return None
    rows = events.select(["message", "level", "count", "time_ms", "last_ms"]).to_pylist()
    levels: Counter[str] = Counter()
    for row in rows:
        levels[row["level"] or "none"] += row["count"]
    times = [row["time_ms"] for row in rows if row["time_ms"] is not None]
    last = [row["last_ms"] for row in rows if row["last_ms"] is not None]
    application = run.application
    bad = sorted((row for row in rows if row["level"] in _LEVELS), key=lambda row: -row["count"])
    return {
        "path": run.path,
        "kind": kind,
        "app_id": application.app_id,
        "app_name": application.app_name,
        "spark_version": application.spark_version,
        "lines": application.lines,
        "first_ms": min(times, default=None),
        "last_ms": max(last, default=None),
        "records": {name: levels[name] for name in (*_LEVELS, "INFO", "none") if levels[name]},
        "commonest": [[row["message"][:200], row["level"], row["count"]] for row in bad[:_MOST]],
    }


def written_text(log: dict[str, Any]) -> str:
    """The same for people."""
    who = log["app_name"] or log["app_id"]
    version = f", Spark {log['spark_version']}" if log["spark_version"] else ""
    said = ", ".join(f"{format_count(count)} {name}" for name, count in log["records"].items() if name in _LEVELS)
    lines = [
        f"{log['path']}{f', of {who}' if who else ''}{version}",
        f"  lines       {counted(log['lines'], 'line')}",
        f"  records     {said or 'no warning and no error'}",
    ]
    if log["first_ms"] is not None and log["last_ms"] is not None:
        lines.append(f"  told from   {spoken(log['first_ms'])} to {spoken(log['last_ms'])}, as the log's clock has it")
    lines += [f"  {count:>9,}  {level} {message[:90]}" for message, level, count in log["commonest"][:_SHOWN]]
    return "\n".join(lines)
