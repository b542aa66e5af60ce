from __future__ import annotations

import pytest

from emberscope.rules.evaluate import evaluate
from emberscope.rules.memory.driver_heap import RULE
from emberscope.tables.run import Run
from tests.runs import found, run_of, spark_wrote

GIB = 1 << 30


def driving(peak: float, gc_ms: int, memory: str = "4g", length_ms: int = 600_000, **conf: str) -> Run:
    rows = [
        {"executor_id": "driver", "source": "heartbeat", "jvm_heap_bytes": round(peak * GIB), "total_gc_ms": gc_ms},
        {"executor_id": "driver", "source": "heartbeat", "jvm_heap_bytes": None, "total_gc_ms": None},
        {"executor_id": "1", "source": "stage", "jvm_heap_bytes": 99 * GIB, "total_gc_ms": 10**9},
    ]
    return run_of(length_ms, conf={"spark.driver.memory": memory, **conf}, executor_metrics=rows)


def test_a_full_heap_that_is_collected_all_the_time_is_a_risk() -> None:
    (finding,) = found(RULE, driving(3.9, 60_000))
    assert finding.consequence == "risk"
    assert finding.where.executor == "driver"
    assert next(a.value for a in finding.advice if a.setting) == "4864m"


def test_a_full_heap_that_is_hardly_collected_is_none() -> None:
    assert found(RULE, driving(3.9, 6_000)) == []


def test_a_very_large_heap_that_is_hardly_used_is_a_hint() -> None:
    (finding,) = found(RULE, driving(2.0, 0, "32g"))
    assert finding.consequence == "hint"
    assert {a.setting: a.value for a in finding.advice} == {"spark.driver.memory": "2560m"}
    assert found(RULE, driving(2.0, 0, "8g")) == []
    assert found(RULE, driving(2.0, 0, "32g", length_ms=60_000)) == []


def test_in_local_mode_the_heap_of_the_tasks_is_meant_and_others_speak_of_it() -> None:
    assert found(RULE, driving(3.9, 60_000, **{"spark.master": "local[4]"})) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_says_how_to_record_what_it_needs(log: str) -> None:
    (answer,) = evaluate(spark_wrote(log), [RULE]).not_evaluated
    assert "executor_metrics.jvm_heap_bytes" in answer.needs
    assert "spark.eventLog.logStageExecutorMetrics=true" in answer.needs
