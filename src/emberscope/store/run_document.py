"""`run.json`: who a run is, how it was configured and recorded, what each executor left, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from emberscope.tables.run import Run

SCHEMA: Final = "emberscope.run/1"


def run_document(
    run: Run, executors: Sequence[Mapping[str, Any]], *, exit_code: int | None, invocation: str | None
) -> dict[str, Any]:
    """The document of one run. `exit_code` is that of the command that started it; times are epoch ms.

    The configuration is Spark's own as the event log has it, redacted when it was read. `executors` as `summary`
    prints them.
    """
    application = run.application
    # The event log has a vendor behind the version: "17.0.15 (Debian)".
    java_version = (application.java_version or "").partition(" ")[0]
    java_versions = {*run.recorder.get("java_versions", ()), *([java_version] if java_version else [])}
    return {
        "schema": SCHEMA,
        "app_id": application.app_id,
        "app_name": application.app_name,
        "attempt": application.attempt,
        "user": application.user,
        "spark_version": application.spark_version,
        "java_versions": sorted(java_versions),
        "master": application.master,
        "started_ms": application.app_start_ms,
        "ended_ms": application.app_end_ms,
        "exit_code": exit_code,
        "invocation": invocation,
        "configuration": _configuration(run),
        "recorder": {
            key: run.recorder.get(key) for key in ("engine", "events", "sample_period_ns", "version", "own_cpu")
        }
        if run.recorder
        else None,
        "executors": [dict(executor) for executor in executors],
        "coverage": run.coverage.document(),
    }


def _configuration(run: Run) -> dict[str, str] | None:
    """Spark's settings; None where no event log says them."""
    conf = run.tables.get("conf")
    if conf is None:
        return None
    rows = zip(*(conf[name].to_pylist() for name in ("key", "value", "scope")), strict=True)
    return {key: value for key, value, scope in sorted(rows) if scope == "spark"}
