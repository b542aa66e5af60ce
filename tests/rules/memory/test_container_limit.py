from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.evaluate import evaluate
from emberscope.rules.memory.container_limit import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

MIB = 1 << 20
GIB = 1 << 30
PYTHON_ERROR = """Traceback (most recent call last):
  File "/usr/lib/spark/python/lib/pyspark.zip/pyspark/worker.py", line 2000, in main
    process()
  File "/home/someone/jobs/daily.py", line 12, in gather
    kept.append(row)
MemoryError
"""


def failing(message: str, conf: dict[str, str] | None = None, *, ends: bool = False, **more: Any) -> Run:
    """Four tasks of 10 s on one core; the second fails after 10 s and is done again."""
    outcome = {"status": "failed", "error_message": message, "reason": more.pop("reason", "ExceptionFailure")}
    return run_of(
        60_000,
        conf=conf,
        tasks=[task(0, 10_000 * i, 10_000, task_id=i, **(outcome if i == 1 else {})) for i in range(5)],
        stages=[stage(0, 0, 50_000)],
        jobs=[job(0, 0, 50_000, **({"status": "failed", "error_message": message} if ends else {}))],
        executors=[{**executor("1", 1), **more}],
    )


def polled(together: int, conf: dict[str, str], heap: int = GIB) -> Run:
    rows = [{"executor_id": "1", "process_jvm_rss_bytes": heap, "process_python_rss_bytes": together - heap}]
    return run_of(conf=conf, executors=[executor("1", 1)], executor_metrics=rows)


def settings(run: Run) -> dict[str | None, str | None]:
    (finding,) = found(RULE, run)
    return {a.setting: a.value for a in finding.advice if a.setting}


@pytest.mark.parametrize("log", ["skew_spill_python", "none"])
def test_ignores_python_of_spark_that_had_room(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_the_price_is_the_work_of_the_attempts_that_failed() -> None:
    (finding,) = found(RULE, failing(PYTHON_ERROR))
    assert finding.wasted_core_ms == 10_000
    assert finding.wasted_wall_ms == 10_000
    assert finding.consequence == "lost"
    assert finding.title == "Python ran out of memory in `gather` (daily.py:12)"
    assert finding.evidence[0].text == "1 task attempt ended with `MemoryError`"


@pytest.mark.parametrize(
    "line",
    [
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array",
        "pyarrow.lib.ArrowMemoryError: malloc of size 123 failed",
        "MemoryError: out",
    ],
)
def test_numpy_and_arrow_have_names_of_their_own_for_it(line: str) -> None:
    assert len(found(RULE, failing(f"Traceback (most recent call last):\n{line}\n"))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "java.lang.OutOfMemoryError: Java heap space",
        "ValueError: MemoryError is not a column",
        "my.MemoryErrorCounter: 3",
    ],
)
def test_other_errors_are_none_of_its_business(line: str) -> None:
    assert found(RULE, failing(line)) == []


def test_the_limit_of_python_is_raised_where_it_has_one_and_else_the_overhead() -> None:
    with_limit = {"spark.master": "yarn", "spark.executor.pyspark.memory": "2g"}
    assert settings(failing(PYTHON_ERROR, with_limit)) == {"spark.executor.pyspark.memory": "4g"}
    assert settings(failing(PYTHON_ERROR, {"spark.master": "yarn"})) == {"spark.executor.memoryOverhead": "640m"}
    assert settings(failing(PYTHON_ERROR, {"spark.master": "spark://a:7077"})) == {}


def test_a_container_that_is_nearly_full_is_a_risk_and_gets_overhead_by_what_was_taken() -> None:
    conf = {"spark.master": "yarn", "spark.executor.memory": "4g", "spark.executor.memoryOverhead": "1g"}
    (finding,) = found(RULE, polled(round(4.8 * GIB), conf, heap=2 * GIB))
    assert finding.consequence == "risk"
    assert finding.wasted_wall_ms is None
    assert finding.evidence[1].value == round(4.8 * GIB)
    assert settings(polled(round(4.8 * GIB), conf)) == {"spark.executor.memoryOverhead": "1536m"}
    # Twice the overhead was taken beside the heap: a tenth more than that.
    assert settings(polled(6 * GIB, conf)) == {"spark.executor.memoryOverhead": "2304m"}


def test_a_container_with_room_and_one_that_nobody_limits_are_none() -> None:
    conf = {"spark.master": "yarn", "spark.executor.memory": "4g", "spark.executor.memoryOverhead": "1g"}
    assert found(RULE, polled(round(4.4 * GIB), conf)) == []
    assert found(RULE, polled(round(4.9 * GIB), {**conf, "spark.master": "spark://a:7077"})) == []


def test_says_how_to_record_what_it_could_not_see() -> None:
    diagnosis = evaluate(spark_wrote("none"), [RULE])
    (answer,) = diagnosis.not_evaluated
    assert diagnosis.asked == 1
    assert answer.code == "C6"
    assert "spark.executor.processTreeMetrics.enabled=true" in answer.needs
    assert "spark.eventLog.logStageExecutorMetrics=true" in answer.needs
    assert not evaluate(polled(GIB, {}), [RULE]).not_evaluated


def test_a_recording_tells_the_memory_of_the_jvm_where_the_log_has_none() -> None:
    conf = {"spark.master": "yarn", "spark.executor.memory": "4g", "spark.executor.memoryOverhead": "1g"}
    series = [
        {"name": "rss_bytes", "value": value * GIB, "executor_id": one, "time_ns": 1}
        for one, value in (("1", 2.0), ("1", 4.9), ("2", 1.0), ("driver", 99.0))
    ]
    run = run_of(conf=conf, executors=[executor("1", 1)], series=series)
    (finding,) = found(RULE, run)
    assert finding.where.executor == "1"
    assert finding.evidence[1].source == "series.rss_bytes"
    assert not evaluate(run, [RULE]).not_evaluated
