from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.causes import causes
from emberscope.rules.storage.commit_phase import RULE
from tests.rules.storage.logs import fault
from tests.rules.storage.written import executed, writing
from tests.runs import found, spark_wrote

MIB = 1 << 20
LONG = {"commit_ms": 30_000, "ended_ms": 51_000}


def settings(path: str, conf: dict[str, str] | None = None) -> dict[str | None, str | None]:
    (finding,) = found(RULE, writing(9, 900 * MIB, path=path, conf=conf, **LONG))
    return {advice.setting: advice.value for advice in finding.advice if advice.setting}


def test_the_commit_that_spark_measured_is_the_price() -> None:
    (finding,) = found(RULE, writing(9, 900 * MIB, **LONG))
    assert finding.wasted_wall_ms == 30_000
    assert finding.where.stage == 0
    assert finding.title == "The commit of events took 30.0 s"


def test_without_a_measure_it_is_the_time_after_the_last_task() -> None:
    (finding,) = found(RULE, writing(9, 900 * MIB, ended_ms=51_000))
    assert finding.wasted_wall_ms == 31_000


def test_the_advice_is_for_the_file_system() -> None:
    version = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version"
    assert settings("hdfs://a/events") == {version: "2"}
    assert settings("hdfs://a/events", {version: "2"}) == {}
    assert settings("s3a://a/events")["spark.hadoop.fs.s3a.committer.name"] == "magic"
    assert settings("s3://a/events") == {}


def test_a_table_of_hive_is_named() -> None:
    node = {"node_id": 0, "name": "Execute InsertIntoHiveTable", "stage_ids": [0]}
    node["detail"] = "Execute InsertIntoHiveTable `default`.`sales`, org.apache.hadoop.hive.ql.io.X, [day=None], true"
    run = executed([node], {0: {"number of written files": 9}}, ended_ms=51_000, output_bytes=9)
    (finding,) = found(RULE, run)
    assert finding.title == "The commit of default.sales took 31.0 s"
    assert "USING parquet" in finding.advice[0].text


@pytest.mark.parametrize("more", [{"commit_ms": 4_000}, {"ended_ms": 24_000}, {"commit_ms": 30_000, "run_ms": 200_000}])
def test_short_commits_are_not_told(more: dict[str, int]) -> None:
    assert found(RULE, writing(9, 900 * MIB, **more)) == []


def test_small_files_are_why_a_commit_is_long() -> None:
    (finding,) = found(RULE, writing(9, 900 * MIB, **LONG))
    assert causes("E9", finding.where, [("E2", finding.where)]) == (0,)


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python", "files"])
def test_silent_on_applications_that_commit_at_once(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_the_commit_that_spark_made_is_found_where_the_limits_allow_it() -> None:
    limits = structs.replace(RULE.limits, floor_ms=1, ratio=0.0)
    (finding,) = RULE.check(fault("single_thread_write"), limits)
    assert finding.wasted_wall_ms is not None
    assert 0 < finding.wasted_wall_ms < 5_000
