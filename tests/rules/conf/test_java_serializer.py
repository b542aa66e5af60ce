from __future__ import annotations

import pytest

from emberscope.rules.conf.java_serializer import RULE, Limits
from emberscope.tables.run import Run
from tests.runs import found, run_of, spark_wrote, stage, task

GIB = 1 << 30
SMALL = Limits(floor_bytes=1_000)


def shuffling(names: list[str], conf: dict[str, str] | None = None, **more: object) -> Run:
    return run_of(
        conf=conf,
        tasks=[task(0, 0, 1000, shuffle_write_bytes=2 * GIB)],
        stages=[stage(0, 0, 1000, rdd_names=names, **more)],
    )


def test_finds_the_rdd_shuffle_that_spark_ran_and_not_its_sql() -> None:
    (finding,) = RULE.check(spark_wrote("odd_settings"), SMALL)
    assert "1 stage " in finding.summary
    assert finding.advice[0].setting == "spark.serializer"


@pytest.mark.parametrize("log", ["none", "skew_spill_python", "driver_idle_gc"])
def test_ignores_dataframes_that_spark_ran(log: str) -> None:
    assert list(RULE.check(spark_wrote(log), SMALL)) == []


def test_only_objects_of_the_jvm_count() -> None:
    assert len(found(RULE, shuffling(["MapPartitionsRDD", "map"]))) == 1
    assert found(RULE, shuffling(["PythonRDD", "PairwiseRDD"])) == []
    assert found(RULE, shuffling(["MapPartitionsRDD", "Exchange"])) == []
    assert found(RULE, shuffling(["MapPartitionsRDD"], sql_execution_id=3)) == []
    kryo = {"spark.serializer": "org.apache.spark.serializer.KryoSerializer"}
    assert found(RULE, shuffling(["MapPartitionsRDD"], kryo)) == []
