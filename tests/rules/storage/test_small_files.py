from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.storage.small_files_read import RULE as READ
from emberscope.rules.storage.small_files_written import RULE as WRITTEN
from tests.rules.storage.logs import fault
from tests.rules.storage.written import scanning, writing
from tests.runs import found, spark_wrote, without

MIB = 1 << 20
SCAN = "FileScan parquet [id#0L] Batched: true, DataFilters: [], Format: Parquet, Location: InMemoryFileIndex(1 paths)"
SCAN += "[s3a://a/events], PartitionFilters: [], PushedFilters: [], ReadSchema: struct<id:bigint>"


def test_finds_the_files_that_spark_wrote_for_each_task_and_day() -> None:
    (finding,) = found(WRITTEN, fault("small_files"))
    assert finding.where.stage == 0
    assert '`df.repartition("day").write.partitionBy("day")…`' in finding.advice[0].text


def test_its_twin_writes_a_file_a_day() -> None:
    assert found(WRITTEN, fault("small_files_healthy")) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_on_applications_without_files(log: str) -> None:
    assert found(WRITTEN, spark_wrote(log)) == []
    assert found(READ, spark_wrote(log)) == []


def test_a_written_file_costs_as_much_as_four_mib_and_no_more_than_the_tasks_ran() -> None:
    (finding,) = found(WRITTEN, writing(1000, 10 * MIB, columns=""))
    # 999 files of 42 ms are more than the 40 s of the tasks.
    assert finding.wasted_core_ms == pytest.approx(40_000, rel=0.01)
    (finding,) = found(WRITTEN, writing(201, 10 * MIB, columns=""))
    assert finding.wasted_core_ms == pytest.approx(200 * 41.9, rel=0.01)
    assert "`df.repartition(1).write…`" in finding.advice[0].text


def test_the_commit_of_the_files_is_priced_too() -> None:
    alone = found(WRITTEN, writing(201, 10 * MIB, columns=""))[0]
    (finding,) = found(WRITTEN, writing(201, 10 * MIB, columns="", commit_ms=5_000, ended_ms=26_000))
    assert finding.wasted_wall_ms == pytest.approx((alone.wasted_wall_ms or 0) + 5_000 * 200 / 201, abs=2)


@pytest.mark.parametrize(
    ("files", "size", "parts"), [(100, 10 * MIB, 0), (200, 2_000 * MIB, 0), (150, 10 * MIB, 100), (0, 0, 0)]
)
def test_few_or_large_files_or_many_partitions_are_not_told(files: int, size: int, parts: int) -> None:
    assert found(WRITTEN, writing(files, size, parts=parts)) == []


def test_short_stages_are_not_told() -> None:
    run = writing(1000, MIB, run_ms=40, ended_ms=100_000)
    assert found(WRITTEN, run) == []


def test_reading_small_files_is_priced_by_the_time_of_the_scan() -> None:
    (finding,) = found(READ, scanning(1000, 10 * MIB, 5, SCAN))
    assert finding.wasted_core_ms == pytest.approx(40_000, rel=0.01)
    (finding,) = found(READ, scanning(1000, 10 * MIB, 5, SCAN, counted={"scan time": 8_000}))
    assert finding.wasted_core_ms == pytest.approx(8_000, rel=0.01)
    assert finding.wasted_wall_ms == pytest.approx(4_000, rel=0.02)
    assert finding.title == "1,000 files of 10.2 KiB were read from events"
    assert ".repartition(1).write" in finding.advice[0].text


def test_reading_few_or_large_files_is_not_told() -> None:
    assert found(READ, scanning(100, MIB, 5, SCAN)) == []
    assert found(READ, scanning(200, 2_000 * MIB, 5, SCAN)) == []
    assert found(READ, scanning(200, 0, 5, SCAN)) == []


def test_files_that_spark_read_are_found_where_the_floors_allow_it() -> None:
    (finding,) = found(READ, spark_wrote("files"))
    assert finding.evidence[0].value == 120
    assert finding.where.sql is not None
    assert list(READ.check(spark_wrote("files"), structs.replace(READ.limits, files=120))) == []


def test_without_metrics_nothing_is_invented() -> None:
    run = without(writing(1000, 10 * MIB), "plan_metrics")
    assert found(WRITTEN, run) == []
