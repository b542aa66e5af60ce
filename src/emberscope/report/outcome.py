"""One sentence on what happened: the application, its length, where most of it went, and what the first finding is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emberscope.rules.evaluate import SEVERITIES
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed


def outcome(item: Diagnosed) -> str:
    application = item.run.application
    name = application.app_name or application.app_id or item.run.path
    length_ms = application.observed_ms
    if length_ms is None:
        ran = "has no known length"
    elif application.complete:
        ran = f"ran {format_ms(length_ms)}"
    else:
        ran = f"was seen for {format_ms(length_ms)} (the log has no end of the application)"
    parts = sorted(item.waterfall, key=lambda part: -part.wall_ms)
    where = f"; {format_ratio(parts[0].ratio)} of it went to {parts[0].label}" if parts else ""
    failed = failures(item)
    broke = f" {failed}" if failed else ""
    worth = [
        finding
        for finding in item.diagnosis.findings
        if SEVERITIES.index(finding.severity) <= SEVERITIES.index("medium")
    ]
    best = max(worth, key=lambda finding: finding.finding.wasted_wall_ms or 0, default=None)
    if not item.diagnosis.findings:
        verdict = " No rule that could be evaluated found anything."
    elif not worth:
        verdict = " Nothing found is worth much time."
    elif best is not None and best.finding.wasted_wall_ms:
        title = best.finding.title[:1].lower() + best.finding.title[1:]
        verdict = f" The largest saving found is {format_ms(best.finding.wasted_wall_ms)}: {title}."
    else:
        verdict = f" What was found costs core time, not wall time: {worth[0].finding.title}."
    return f"{name} {ran}{where}.{broke}{verdict}"


def failures(item: Diagnosed) -> str:
    """A sentence on failed jobs and tasks; empty where nothing failed."""
    said = []
    for table, what in (("jobs", "job"), ("tasks", "task attempt")):
        rows = item.run.tables.get(table)
        count = 0 if rows is None else rows["status"].to_pylist().count("failed")
        if count:
            said.append(f"{count:,} {what}{'s' if count > 1 else ''}")
    return f"{' and '.join(said)} failed." if said else ""
