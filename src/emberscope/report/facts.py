"""The facts of the page as data: `<script type="application/json" id="emberscope-run">`, for other programs and tests.

What the page leaves out of its tables for their length is left out here too, and long texts are without their middle;
the totals are those of all.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from emberscope.eventlog.facts import facts as log_facts
from emberscope.report.seen import sample_counts
from emberscope.report.visible import clipped

if TYPE_CHECKING:
    from emberscope.report.part import Subject
    from emberscope.report.stage_rows import ExecutorRow, StageRow
    from emberscope.tables.run import Run

SCHEMA: Final = "emberscope.page/1"
MOST_EXECUTIONS: Final = 1_000
_MOST_TEXT: Final = 500

_COUNTS: Final = (
    "jobs",
    "jobs_succeeded",
    "jobs_failed",
    "jobs_unfinished",
    "stages_distinct",
    "stage_attempts",
    "sql_executions",
    "tasks",
    "totals",
)


def page_document(subject: Subject, *, redacted: bool) -> dict[str, Any]:
    """The document; times of executors and executions count in ms from the start of the application."""
    item = subject.item
    run, diagnosis = item.run, item.diagnosis
    application = run.application
    counts = log_facts(run) if "tasks" in run.tables else {}
    return {
        "schema": SCHEMA,
        "redacted": redacted,
        "app": {
            "app_id": application.app_id,
            "app_name": application.app_name,
            "attempt": application.attempt,
            "user": application.user,
            "spark_version": application.spark_version,
            "java_version": application.java_version,
            "master": application.master,
            "started_ms": application.app_start_ms,
            "duration_ms": application.observed_ms,
            "complete": application.complete,
            **{name: counts.get(name) for name in _COUNTS},
        },
        "story": [chapter.document() for chapter in subject.story],
        "waterfall": [part.document() for part in item.waterfall],
        "findings": [finding.document() for finding in diagnosis.findings],
        "not_evaluated": [{"code": one.code, "needs": one.needs} for one in diagnosis.not_evaluated],
        "stages_left_out": len(subject.stages) - len(subject.shown_stages),
        "stages": [_row(row) for row in subject.shown_stages],
        "executors": [_row(row) for row in subject.executors],
        **_executions(run),
        "samples": sample_counts(run),
        "hotspots": None if subject.hotspots is None else subject.hotspots.document(),
        "coverage": run.coverage.document(),
    }


def _row(row: StageRow | ExecutorRow) -> dict[str, Any]:
    return {name: _short(value) for name, value in asdict(row).items()}


def _short(value: Any) -> Any:
    return clipped(value, _MOST_TEXT) if isinstance(value, str) else value


def _executions(run: Run) -> dict[str, Any]:
    table, start_ms = run.tables.get("sql_executions"), run.application.app_start_ms
    if table is None:
        return {"sql_left_out": 0, "sql": []}
    columns = ["sql_execution_id", "description", "status", "started_ms", "ended_ms"]
    rows = sorted(table.select(columns).to_pylist(), key=lambda row: row["sql_execution_id"])
    for row in rows:
        row["description"] = _short(row["description"])
        for name in ("started_ms", "ended_ms"):
            row[name] = None if row[name] is None or start_ms is None else row[name] - start_ms
    longest = sorted(rows, key=lambda row: (row["started_ms"] or 0) - (row["ended_ms"] or 0))[:MOST_EXECUTIONS]
    shown = {row["sql_execution_id"] for row in longest}
    return {"sql_left_out": len(rows) - len(shown), "sql": [r for r in rows if r["sql_execution_id"] in shown]}


def json_script(document: dict[str, Any]) -> Markup:
    """JSON that can stand in a script element whatever its texts hold: nothing in it can end the element, and it is
    ASCII, so that halves of surrogate pairs arrive as they were."""
    text = json.dumps(document, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
