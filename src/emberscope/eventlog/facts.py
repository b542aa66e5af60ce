"""The facts of an event log in figures: the application's object of `summary --json`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.tables.run import Run


def facts(run: Run) -> dict[str, Any]:
    """Counts and sums of an event log, ready for JSON; table `tasks` is not needed.

    Jobs count when started or ended, stage attempts when submitted or completed, SQL executions when started. Totals
    run over all ended task attempts, failed ones too; a total is null where no task carries its field. The peak of the
    heap is 0 where Spark never polled it and null where the log has no such field.
    """
    application = run.application
    tables = run.tables
    tasks, stages = application.tasks, tables["stages"]
    jobs_by_status = _counts(tables["jobs"], "status")
    ran = stages.filter(pc.not_equal(stages["status"].cast(pa.string()), "skipped"))
    stages_by_status = _counts(ran, "status")
    return {
        "app_id": application.app_id,
        "app_name": application.app_name,
        "attempt": application.attempt,
        "spark_version": application.spark_version,
        "java_version": application.java_version,
        "master": application.master,
        "vendor": application.vendor,
        "app_start_ms": application.app_start_ms,
        "app_end_ms": application.app_end_ms,
        "duration_ms": application.duration_ms,
        "complete": application.complete,
        "last_event_ms": application.last_event_ms,
        "lines": application.lines,
        "malformed_lines": application.malformed_lines,
        "event_counts": dict(application.event_counts),
        "jobs": tables["jobs"].num_rows,
        "jobs_succeeded": jobs_by_status.get("succeeded", 0),
        "jobs_failed": jobs_by_status.get("failed", 0),
        "jobs_unfinished": jobs_by_status.get("unfinished", 0),
        "stages_distinct": pc.count_distinct(ran["stage_id"]).as_py(),
        "stage_attempts": ran.num_rows,
        "stage_attempts_completed": stages_by_status.get("succeeded", 0),
        "stage_attempts_failed": stages_by_status.get("failed", 0),
        "stage_attempts_unfinished": stages_by_status.get("unfinished", 0),
        "sql_executions": tables["sql_executions"].num_rows,
        "sql_executions_ended": tables["sql_executions"].num_rows
        - _counts(tables["sql_executions"], "status").get("unfinished", 0),
        "executors_added_distinct": tables["executors"].num_rows,
        "executors_removed_events": application.event_counts.get("SparkListenerExecutorRemoved", 0),
        "tasks": {
            "succeeded": tasks.succeeded,
            "failed": tasks.failed,
            "killed": tasks.killed,
            "total": tasks.count,
            "with_metrics": tasks.with_metrics,
        },
        "peak_jvm_heap_bytes": application.peak_jvm_heap_bytes,
        "totals": dict(tasks.sums),
        "coverage": run.coverage.document(),
    }


def _counts(table: pa.Table, column: str) -> dict[str, int]:
    counted = pc.value_counts(table[column].cast(pa.string())).to_pylist()
    return {entry["values"]: entry["counts"] for entry in counted}
