"""Logs of applications that lost an executor or were killed, against what Spark's own status store counted of them."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from emberscope.eventlog.facts import facts
from emberscope.eventlog.read import read_event_log
from tests.eventlog.logs import DATA

# The last line of `tests/jobs/shaped_job.py`, of the run that wrote the log.
COUNTS = {
    "spark-4.3-executor-loss": {
        "jobs": 1,
        "jobs_failed": 0,
        "stage_attempts": 4,
        "stage_attempts_failed": 1,
        "sql_executions": 0,
        "executors_removed_events": 1,
        "tasks": {"succeeded": 17, "failed": 2, "killed": 0},
        "totals": {"executor_run_time_ms": 12127, "shuffle_write_bytes": 4664},
    },
    "spark-3.5-killed.inprogress.gz": {
        "jobs": 11,
        "jobs_failed": 1,
        "stage_attempts": 12,
        "stage_attempts_failed": 1,
        "sql_executions": 3,
        "executors_removed_events": 0,
        "tasks": {"succeeded": 24, "failed": 1, "killed": 0},
        "totals": {"executor_run_time_ms": 6153, "shuffle_write_bytes": 1619},
    },
}


def _of(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The part of the facts that has the keys of what is wanted."""
    return {key: _of(found[key], value) if isinstance(value, dict) else found[key] for key, value in wanted.items()}


@pytest.mark.parametrize("name", COUNTS)
def test_the_counts_are_sparks_own(name: str) -> None:
    found = facts(read_event_log(str(DATA / name)))
    assert _of(found, COUNTS[name]) == COUNTS[name]
    assert found["coverage"]["complete"]
    assert {note["code"] for note in found["coverage"]["notes"]} <= {"limited", "redacted"}


def test_a_lost_executor_is_removed_and_what_it_held_is_made_again() -> None:
    run = read_event_log(str(DATA / "spark-4.3-executor-loss"))
    assert run.application.complete
    (gone,) = [row for row in run.tables["executors"].to_pylist() if row["removed_ms"] is not None]
    reasons = run.tables["tasks"]["reason"].to_pylist()
    assert sorted(set(reasons)) == ["ExecutorLostFailure", "FetchFailed", "Success"]
    assert gone["removed_reason"] == "Command exited with code 137"
    attempts = [(row["stage_id"], row["stage_attempt"], row["status"]) for row in run.tables["stages"].to_pylist()]
    assert attempts == [(0, 0, "succeeded"), (0, 1, "succeeded"), (1, 0, "failed"), (1, 1, "succeeded")]


def test_a_killed_application_has_no_end(tmp_path: Path) -> None:
    packed = DATA / "spark-3.5-killed.inprogress.gz"
    path = tmp_path / "local-1.inprogress"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    run = read_event_log(str(path))
    assert not run.application.complete
    assert run.application.app_end_ms is None
    assert run.application.observed_ms
    assert facts(run)["jobs_unfinished"] == 0
