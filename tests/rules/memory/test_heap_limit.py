from __future__ import annotations

import pytest

from emberscope.rules.memory.heap_limit import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

GIB = 1 << 30
CONF = {"spark.executor.memory": "4g", "spark.executor.cores": "4"}


def near(peak_ratio: float, gc_ratio: float, **fails: str) -> Run:
    """Ten tasks of 10 s on one core, whose last attempt fails if so told."""
    return run_of(
        110_000,
        conf=CONF,
        tasks=[
            task(0, 10_000 * i, 10_000, gc_time_ms=round(10_000 * gc_ratio), **(fails if i == 9 else {}))
            for i in range(10)
        ],
        stages=[stage(0, 0, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[{**executor("1", 1), "peak_jvm_heap_bytes": round(peak_ratio * 4 * GIB)}],
    )


def test_a_full_heap_with_much_collection_is_a_risk() -> None:
    (finding,) = found(RULE, near(0.97, 0.07))
    assert finding.consequence == "risk"
    assert finding.wasted_wall_ms is None
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings == {"spark.executor.memory": "5g", "spark.executor.cores": "2"}


def test_a_full_heap_without_collection_is_a_healthy_one() -> None:
    assert found(RULE, near(0.99, 0.01)) == []


def test_where_collection_has_a_price_the_other_rule_tells_it() -> None:
    assert found(RULE, near(0.99, 0.15)) == []


def test_a_heap_with_room_is_none() -> None:
    assert found(RULE, near(0.9, 0.07)) == []


@pytest.mark.parametrize(
    "message",
    [
        "java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf",
        "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes",
    ],
)
def test_work_that_was_lost_for_want_of_heap_has_a_price(message: str) -> None:
    (finding,) = found(RULE, near(0.5, 0.0, status="failed", error_message=message))
    assert finding.consequence == "lost"
    assert finding.wasted_core_ms == 10_000
    assert next(a.value for a in finding.advice if a.setting == "spark.executor.memory") == "6g"


@pytest.mark.parametrize(
    "message", ["java.lang.OutOfMemoryError: Metaspace", "Command exited with code 1", "MemoryError"]
)
def test_other_failures_are_none_of_its_business(message: str) -> None:
    assert found(RULE, near(0.5, 0.0, status="failed", error_message=message)) == []


@pytest.mark.parametrize("log", ["none", "skew_spill_python"])
def test_ignores_logs_of_spark_with_room(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
