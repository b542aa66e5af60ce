from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.storage.jdbc_single_partition import RULE as JDBC
from emberscope.rules.storage.slow_metadata import RULE as METADATA
from tests.rules.storage.written import executed, scanning
from tests.runs import found, job, run_of, spark_wrote

SCAN = "FileScan parquet [id#0L] Batched: true, Format: Parquet, Location: InMemoryFileIndex(1 paths)[s3a://a/events]"
ONE = "Scan JDBCRelation(sales.customers) [numPartitions=1] [id#4L] PushedFilters: [], ReadSchema: struct<id:bigint>"


def test_time_to_find_the_files_is_the_price() -> None:
    run = scanning(10, 1 << 30, 5, SCAN, counted={"metadata time": 12_000, "number of partitions read": 3_000})
    (finding,) = found(METADATA, run)
    assert finding.wasted_wall_ms == 12_000
    assert finding.title == "The driver took 12.0 s to find the files of events"
    assert "3,000 partitions" in finding.summary


def test_listing_jobs_are_told_together() -> None:
    said = "Listing leaf files and directories for 2004 paths:<br/>s3://a/events/day=1, ..."
    run = run_of(60_000, jobs=[job(i, 9_000 * i, 9_000 * i + 6_000, description=said) for i in range(2)])
    (finding,) = found(METADATA, run)
    assert finding.wasted_wall_ms == 12_000
    assert finding.title == "2 jobs listed directories for 12.0 s"


@pytest.mark.parametrize("ms", [0, 9_000])
def test_short_listings_are_not_told(ms: int) -> None:
    assert found(METADATA, scanning(10, 1 << 30, 5, SCAN, counted={"metadata time": ms})) == []


def test_metadata_time_that_spark_counted_is_found_where_the_limits_allow_it() -> None:
    assert found(METADATA, spark_wrote("files")) == []
    assert list(METADATA.check(spark_wrote("files"), structs.replace(METADATA.limits, floor_ms=0, app_ratio=0.0)))


def test_one_connection_is_told_with_a_number_of_ranges() -> None:
    node = {"node_id": 0, "name": "Scan JDBCRelation(sales.customers) [numPartitions=1] ", "stage_ids": [0]}
    run = executed([{**node, "detail": ONE}], {0: {"number of output rows": 5_000}}, count=1, run_ms=20_000)
    (finding,) = found(JDBC, run)
    assert finding.wasted_wall_ms == 10_000
    assert "Read sales.customers in ranges" in finding.advice[0].text
    assert '.option("numPartitions", 2)' in finding.advice[0].text
    many = {**node, "detail": ONE.replace("=1]", "=8]"), "name": node["name"].replace("=1]", "=8]")}  # type: ignore[attr-defined]
    assert found(JDBC, executed([many], {}, count=1, run_ms=20_000)) == []
    assert found(JDBC, executed([{**node, "detail": ONE}], {}, count=1, run_ms=2_000)) == []


def test_the_connection_that_spark_used_is_found_where_the_limits_allow_it() -> None:
    assert found(JDBC, spark_wrote("files")) == []
    (finding,) = JDBC.check(spark_wrote("files"), structs.replace(JDBC.limits, floor_ms=0))
    assert "customers" in finding.title


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_on_applications_without_tables(log: str) -> None:
    assert found(METADATA, spark_wrote(log)) == []
    assert found(JDBC, spark_wrote(log)) == []
