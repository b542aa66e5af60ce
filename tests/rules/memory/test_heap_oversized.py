from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emberscope.rules.memory.heap_oversized import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

GIB = 1 << 30
HOUR_MS = 3_600_000
CONF = {"spark.executor.memory": "16g"}


def using(peak: float | None, conf: dict[str, str] | None = None, hours: float = 1.0, **more: Any) -> Run:
    """Ten tasks of 10 s on one executor of 16 GiB that lives so long and has so many GiB in use at most."""
    length = round(hours * HOUR_MS)
    return run_of(
        length,
        conf={**CONF, **(conf or {})},
        tasks=[task(0, 10_000 * i, 10_000, **{"peak_jvm_heap_bytes": GIB, **more}) for i in range(10)],
        stages=[stage(0, 0, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[{**executor("1", 2), "peak_jvm_heap_bytes": None if peak is None else round(peak * GIB)}],
    )


def heap_of(run: Run) -> dict[str | None, str | None]:
    (finding,) = found(RULE, run)
    return {a.setting: a.value for a in finding.advice}


def test_the_heap_becomes_the_peak_and_a_fifth() -> None:
    (finding,) = found(RULE, using(4.0))
    assert heap_of(using(4.0)) == {"spark.executor.memory": "5g"}
    assert finding.consequence == "hint"
    assert finding.wasted_wall_ms is None
    assert finding.evidence[2].value == pytest.approx(11.0)


def test_the_largest_task_has_to_find_room_on_each_core() -> None:
    # 2 cores x 2 GiB over 0.6, and 300 MiB.
    assert heap_of(using(4.0, peak_execution_memory_bytes=2 * GIB)) == {"spark.executor.memory": "7g"}


def test_on_yarn_the_overhead_stays_as_it_was() -> None:
    assert heap_of(using(4.0, {"spark.master": "yarn"})) == {
        "spark.executor.memory": "5g",
        "spark.executor.memoryOverhead": "1664m",
    }
    fixed = {"spark.master": "yarn", "spark.executor.memoryOverhead": "2g"}
    assert heap_of(using(4.0, fixed)) == {"spark.executor.memory": "5g"}


def test_is_silent_where_memory_is_short_in_any_way() -> None:
    assert found(RULE, using(7.0)) == []
    assert found(RULE, using(4.0, gc_time_ms=600)) == []
    assert found(RULE, using(4.0, disk_spilled_bytes=20 << 20)) == []
    assert found(RULE, using(4.0, status="failed", error_message="java.lang.OutOfMemoryError: Java heap space")) == []


def test_is_silent_where_too_little_is_known_or_to_gain() -> None:
    assert found(RULE, using(None)) == []
    assert found(RULE, using(4.0, peak_jvm_heap_bytes=None)) == []
    assert found(RULE, using(4.0, hours=0.05)) == []
    assert found(RULE, using(0.2, {"spark.executor.memory": "1536m"}, hours=10)) == []
    databricks = using(4.0)
    assert found(RULE, replace(databricks, application=replace(databricks.application, vendor="databricks"))) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_ignores_logs_of_spark_in_small_heaps(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
