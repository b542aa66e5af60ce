from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.base import Finding
from emberscope.rules.storage.split_size import RULE
from emberscope.tables.run import Run
from tests.rules.storage.logs import fault
from tests.rules.storage.written import scanning
from tests.runs import found, spark_wrote

MIB = 1 << 20
GIB = 1 << 30
SCAN = "FileScan parquet [id#0L] Batched: true, Format: Parquet, Location: InMemoryFileIndex(1 paths)[s3a://a/events]"


def reading(count: int, read: int, run_ms: int = 10_000, body_ms: int | None = None, **more: Any) -> Run:
    """`count` tasks that read so many bytes each, and ran for `body_ms` of the `run_ms` from launch to end."""
    run = scanning(3, 3 * GIB, 9, SCAN, count=count, run_ms=run_ms, conf=more.get("conf"))
    rows = run.tables["tasks"].to_pylist()
    from emberscope.tables.tasks import TASKS

    changed = [{**row, "input_bytes": read, "executor_run_time_ms": body_ms or run_ms} for row in rows]
    return Run(run.path, run.application, {**run.tables, "tasks": TASKS.from_rows(changed)}, run.coverage)


def setting(finding: Finding) -> dict[str | None, str | None]:
    return {advice.setting: advice.value for advice in finding.advice if advice.setting}


def test_splits_that_were_made_large_are_made_small_again() -> None:
    (finding,) = found(RULE, reading(3, GIB, conf={"spark.sql.files.maxPartitionBytes": "1g"}))
    assert setting(finding) == {"spark.sql.files.maxPartitionBytes": "256m"}
    # Three tasks on two cores took 20 s, 24 of the same work 15 s and a little.
    assert 4_000 < (finding.wasted_wall_ms or 0) < 5_000


def test_files_that_cannot_be_split_have_to_be_written_anew() -> None:
    (finding,) = found(RULE, reading(3, GIB))
    assert setting(finding) == {}
    assert "cannot be split" in finding.advice[0].text


def test_splits_with_little_to_read_are_made_larger() -> None:
    (finding,) = found(RULE, reading(400, 8 * MIB, run_ms=100, body_ms=50))
    assert setting(finding) == {"spark.sql.files.maxPartitionBytes": "2g"}
    # 16 tasks become one, with the start and end of one.
    assert finding.wasted_core_ms == pytest.approx(400 * 50 * 15 / 16, rel=0.01)


def test_healthy_splits_or_tasks_without_overhead_are_not_told() -> None:
    assert found(RULE, reading(40, 150 * MIB)) == []
    assert found(RULE, reading(400, 8 * MIB, run_ms=100, body_ms=90)) == []
    assert found(RULE, reading(4, 8 * MIB, run_ms=100, body_ms=50)) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python", "files"])
def test_silent_on_small_scans_of_spark(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
    assert found(RULE, fault("small_files")) == []


def test_a_size_of_nothing_is_no_size() -> None:
    slow = {"count": 400, "read": 8 * MIB, "run_ms": 100, "body_ms": 50}
    (usual,), (nothing,) = (
        found(RULE, reading(**slow, conf={"spark.sql.files.maxPartitionBytes": size})) for size in ("128m", "0")
    )
    assert setting(nothing) == setting(usual)
