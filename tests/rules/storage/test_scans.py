"""Full scans (E4) and filters that were not pushed (E5): the same scan is told by one of them."""

from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.storage.full_scan import RULE as FULL
from emberscope.rules.storage.kept_rows import kept_rows
from emberscope.rules.storage.no_pushdown import RULE as PUSHDOWN
from emberscope.tables.run import Run
from tests.rules.storage.written import scanning
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

GIB = 1 << 30
DETAIL = (
    "FileScan parquet [id#0L,key#1L,day#2] Batched: true, DataFilters: [{data}], Format: Parquet, Location: "
    "InMemoryFileIndex(1 paths)[s3a://a/events], PartitionFilters: [{parts}], PushedFilters: [{pushed}], "
    "ReadSchema: struct<id:bigint,key:bigint>"
)


def scan(pushed: str = "EqualTo(key,7)", parts: str = "", kept: int = 100_000, **more: object) -> Run:
    detail = DETAIL.format(
        data="(key#1L = 7)", pushed=f"IsNotNull(key), {pushed}" if pushed else "IsNotNull(key)", parts=parts
    )
    return scanning(10, GIB, 10_000_000, detail, kept=kept, **more)


def test_rows_that_the_filter_dropped_are_the_price() -> None:
    (finding,) = found(FULL, scan(counted={"scan time": 20_000}))
    assert finding.wasted_core_ms == 19_800
    assert finding.wasted_wall_ms == pytest.approx(9_900, abs=2)
    assert finding.confidence == 0.35
    assert "among key" in finding.advice[0].text
    assert found(PUSHDOWN, scan()) == []


def test_a_partitioned_table_is_asked_for_its_partitions() -> None:
    (finding,) = found(FULL, scan(counted={"number of partitions read": 365}))
    assert finding.confidence == 0.5
    assert "partitioned (day)" in finding.advice[0].text
    assert found(FULL, scan(parts="isnotnull(day#2), (day#2 = 7)", counted={"number of partitions read": 1})) == []


def test_a_filter_that_keeps_much_is_not_told() -> None:
    assert found(FULL, scan(kept=2_000_000)) == []
    assert found(PUSHDOWN, scan(pushed="", kept=2_000_000)) == []


def test_a_filter_that_was_not_pushed_is_told_by_its_own_rule() -> None:
    run = scan(pushed="", condition="Filter (isnotnull(key#1L) AND (substring(cast(key#1L as string), 1, 3) = 777))")
    assert found(FULL, run) == []
    (finding,) = found(PUSHDOWN, run)
    assert "substring(cast(key as string), 1, 3) = 777" in finding.advice[0].text


def test_files_read_only_to_guess_their_columns_are_saved_whole() -> None:
    run = run_of(
        30_000,
        tasks=[task(0, 0, 20_000, input_bytes=GIB), task(1, 20_000, 10_000, task_id=9, input_bytes=GIB)],
        stages=[stage(0, 0, 20_000), stage(1, 20_000, 30_000, job_id=1)],
        jobs=[
            job(0, 0, 20_000, call_site="csv at /home/me/daily.py:7", stage_ids=[0]),
            job(1, 20_000, 30_000, call_site="csv at daily.py:9", stage_ids=[1], sql_execution_id=0),
        ],
        executors=[executor("1", 1)],
    )
    (finding,) = found(PUSHDOWN, run)
    assert finding.wasted_wall_ms == 20_000
    assert finding.where.line == "daily.py:7"
    assert "spark.read.schema(" in finding.advice[0].text


@pytest.mark.parametrize("more", [{"output_bytes": 5}, {"shuffle_write_bytes": 5}, {"input_bytes": 0}])
def test_jobs_that_give_something_on_do_not_guess(more: dict[str, int]) -> None:
    run = run_of(
        30_000,
        tasks=[task(0, 0, 20_000, **{"input_bytes": GIB, **more})],
        stages=[stage(0, 0, 20_000)],
        jobs=[job(0, 0, 20_000, call_site="csv at daily.py:7", stage_ids=[0])],
        executors=[executor("1", 1)],
    )
    assert found(PUSHDOWN, run) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_on_applications_without_files(log: str) -> None:
    assert found(FULL, spark_wrote(log)) == []
    assert found(PUSHDOWN, spark_wrote(log)) == []


def test_both_kinds_that_spark_ran_are_told_apart() -> None:
    run = spark_wrote("files")
    assert [kept.ratio for kept in kept_rows(run) if kept.scan.format == "parquet"] == [pytest.approx(0.001)] * 2
    (full,) = FULL.check(run, structs.replace(FULL.limits, rows=1_000))
    assert "among key" in full.advice[0].text
    guessed, missed = PUSHDOWN.check(run, structs.replace(PUSHDOWN.limits, rows=1_000))
    assert "csv(…)" in guessed.advice[0].text
    assert "substring" in missed.advice[0].text
