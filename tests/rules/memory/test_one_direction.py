"""A law of this family: no run is told to give the same JVM more memory and less."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import evaluate
from emberscope.units import parse_bytes
from tests.runs import executor, job, run_of, stage, task

MIB = 1 << 20
GIB = 1 << 30
MEMORY = [rule for rule in RULES if rule.code in {f"C{number}" for number in range(1, 10)}]
SIZED = ("spark.executor.memory", "spark.executor.memoryOverhead", "spark.driver.memory")
ERRORS = (None, "java.lang.OutOfMemoryError: Java heap space", "MemoryError", "ValueError: 1")


@settings(max_examples=150)
@given(
    heap=st.integers(1, 40),
    full=st.floats(0.01, 1.0),
    driver_full=st.floats(0.01, 1.0),
    gc_ratio=st.floats(0.0, 0.5),
    driver_gc_ms=st.integers(0, 3_600_000),
    spilled=st.sampled_from([0, 50 * MIB, 5 * GIB]),
    held=st.integers(0, 4 * GIB),
    rss=st.none() | st.floats(0.1, 1.2),
    error=st.sampled_from(ERRORS),
    cores=st.integers(1, 8),
    long=st.booleans(),
)
def test_prop_all_advice_about_one_memory_goes_one_way(
    heap: int,
    full: float,
    driver_full: float,
    gc_ratio: float,
    driver_gc_ms: int,
    spilled: int,
    held: int,
    rss: float | None,
    error: str | None,
    cores: int,
    long: bool,
) -> None:
    peak = round(full * heap * GIB)
    more: dict[str, Any] = {
        "gc_time_ms": round(40_000 * gc_ratio),
        "disk_spilled_bytes": spilled // 2,
        "memory_spilled_bytes": spilled,
        "peak_execution_memory_bytes": held,
        "peak_jvm_heap_bytes": peak,
    }
    failed = {"status": "failed", "error_message": error} if error else {}
    length_ms = 7_200_000 if long else 600_000
    now = {
        "spark.executor.memory": heap * GIB,
        "spark.executor.memoryOverhead": 2 * GIB,
        "spark.driver.memory": heap * GIB,
    }
    run = run_of(
        length_ms,
        conf={
            "spark.master": "yarn",
            "spark.executor.cores": str(cores),
            **{key: f"{size // GIB}g" for key, size in now.items()},
        },
        tasks=[task(0, 40_000 * i, 40_000, **more, **(failed if i == 3 else {})) for i in range(8)],
        stages=[stage(0, 0, 320_000, sql_execution_id=0)],
        jobs=[job(0, 0, 320_000)],
        executors=[{**executor("1", cores), "peak_jvm_heap_bytes": peak}],
        executor_metrics=[
            {"executor_id": "driver", "jvm_heap_bytes": round(driver_full * heap * GIB), "total_gc_ms": driver_gc_ms},
            *([] if rss is None else [{"executor_id": "1", "process_jvm_rss_bytes": round(rss * (heap + 2) * GIB)}]),
        ],
    )
    directions: dict[str, set[bool]] = {}
    for ranked in evaluate(run, MEMORY).findings:
        for advice in ranked.finding.advice:
            if advice.setting in SIZED and advice.value is not None:
                directions.setdefault(advice.setting, set()).add(parse_bytes(advice.value) > now[advice.setting])
    assert all(len(ways) == 1 for ways in directions.values())
