from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.base import Finding
from emberscope.rules.conf.wrong_settings import RULE
from emberscope.tables.run import Run
from tests.runs import found, run_of, spark_wrote


def told(conf: dict[str, str], version: str = "3.5.1", vendor: str | None = None) -> Finding | None:
    run = run_of(conf=conf)
    run = replace(run, application=replace(run.application, spark_version=version, vendor=vendor))
    findings = found(RULE, run)
    return findings[0] if findings else None


def test_finds_all_that_is_odd_in_a_job_that_spark_ran() -> None:
    (finding,) = found(RULE, spark_wrote("odd_settings"))
    said = " ".join(evidence.text for evidence in finding.evidence)
    for words in (
        "spark.sql.shufle.partitions=400: Spark knows no such setting",
        "spark.executor.memory.overhead=1g: Spark knows no such setting",
        "spark.yarn.executor.memoryOverhead=512 is read no more",
        "spark.speculation.quantile=0.8 does nothing while spark.speculation is false",
        "spark.sql.execution.arrow.enabled is out of use since Spark 3.0",
    ):
        assert words in said
    assert finding.consequence == "risk"
    assert finding.wasted_wall_ms is None
    removed = {advice.setting for advice in finding.advice if advice.kind == "unset"}
    assert {"spark.sql.shufle.partitions", "spark.yarn.executor.memoryOverhead"} <= removed


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_ignores_what_spark_reads(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_a_slip_is_mended_with_its_value() -> None:
    finding = told({"spark.sql.shufle.partitions": "400"})
    assert finding is not None
    (set_, unset) = finding.advice
    assert (set_.setting, set_.value) == ("spark.sql.shuffle.partitions", "400")
    assert (unset.kind, unset.setting) == ("unset", "spark.sql.shufle.partitions")


def test_a_slip_whose_value_is_wrong_too_is_not_copied() -> None:
    finding = told({"spark.sql.shufle.partitions": "many"})
    assert finding is not None
    assert [advice.kind for advice in finding.advice] == ["unset", "check"]


def test_a_slip_beside_the_right_name_is_a_hint() -> None:
    finding = told({"spark.eventlog.enabled": "true", "spark.eventLog.enabled": "true"})
    assert finding is not None
    assert finding.consequence == "hint"


@pytest.mark.parametrize(
    "conf",
    [
        {"spark.myteam.retries": "3"},
        {"spark.databricks.io.cache.enabled": "true"},
        {"spark.hadoop.fs.s3a.connection.maximum": "100"},
        {"spark.kubernetes.driver.label.team": "x"},
        {"spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog"},
        {"spark.executorEnv.PATH": "/bin"},
        {"spark.dynamicAllocation.enabled": "false", "spark.dynamicAllocation.maxExecutors": "50"},
        {"spark.executor.memory": "*********(redacted)"},
    ],
)
def test_names_of_others_and_choices_are_left_alone(conf: dict[str, str]) -> None:
    assert told(conf) is None


@pytest.mark.parametrize(
    ("conf", "version", "words"),
    [
        ({"spark.sql.files.maxPartitionNum": "10"}, "3.3.1", "it came with 3.5"),
        ({"spark.executor.memoryOverheadFactor": "13516m"}, "3.5.1", "no number"),
        ({"spark.memory.fraction": "1.4"}, "3.5.1", "the most that Spark takes"),
    ],
)
def test_versions_and_values(conf: dict[str, str], version: str, words: str) -> None:
    finding = told(conf, version)
    assert finding is not None
    assert words in finding.evidence[0].text
    assert told(conf, version, vendor="databricks") is None


def test_a_version_that_is_not_known_is_not_judged_by() -> None:
    run: Run = run_of(conf={"spark.sql.files.maxPartitionNum": "10"})
    assert found(RULE, replace(run, application=replace(run.application, spark_version=None))) == []
