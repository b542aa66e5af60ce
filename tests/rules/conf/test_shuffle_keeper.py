from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.conf.shuffle_keeper import RULE
from tests.runs import executor, found, run_of, spark_wrote

ON = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "false"}


def advised(conf: dict[str, str], version: str = "3.5.1", vendor: str | None = None) -> list[str | None]:
    run = run_of(conf=conf, executors=[executor("1", 4, removed_ms=50_000)])
    run = replace(run, application=replace(run.application, spark_version=version, vendor=vendor))
    return [advice.setting for finding in found(RULE, run) for advice in finding.advice]


def test_finds_dynamic_allocation_that_keeps_nothing_in_a_job_that_spark_ran() -> None:
    (finding,) = found(RULE, spark_wrote("odd_settings"))
    assert finding.consequence == "risk"
    assert finding.advice[0].setting == "spark.dynamicAllocation.shuffleTracking.enabled"


@pytest.mark.parametrize("log", ["none", "skew_spill_python"])
def test_ignores_jobs_without_dynamic_allocation(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_each_keeper_is_enough() -> None:
    assert advised(ON) == ["spark.dynamicAllocation.shuffleTracking.enabled"]
    assert advised({**ON, "spark.shuffle.service.enabled": "true"}) == []
    assert advised({**ON, "spark.dynamicAllocation.shuffleTracking.enabled": "true"}) == []
    assert advised({**ON, "spark.storage.decommission.shuffleBlocks.enabled": "true"}) != []
    assert advised({**ON, "spark.decommission.enabled": "true"}) == []
    assert advised({**ON, "spark.shuffle.manager": "org.apache.spark.shuffle.celeborn.SparkShuffleManager"}) == []
    assert advised(ON, vendor="databricks") == []


def test_defaults_are_those_of_the_version() -> None:
    bare = {"spark.dynamicAllocation.enabled": "true"}
    assert advised(bare, "3.2.0") == ["spark.dynamicAllocation.shuffleTracking.enabled"]
    assert advised(bare, "4.0.0") == []
    assert advised(bare, "2.4.8") == ["spark.shuffle.service.enabled"]
