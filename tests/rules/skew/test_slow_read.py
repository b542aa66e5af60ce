from __future__ import annotations

from typing import Any

from emberscope.rules.skew.skewed_stage import RULE as SKEWED_STAGE
from emberscope.rules.skew.slow_read import RULE
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def reading(slow_ms: float = 60_000, rdds: list[str] | None = None, **slow: Any) -> Run:
    """Seven tasks that read 100 MB in 2 s, and one that reads as much in `slow_ms`, a second of it on the CPU."""
    tasks = [task(0, 2_000 * (n // 3), 2_000, task_id=n, input_bytes=100_000_000) for n in range(7)]
    last = {"input_bytes": 100_000_000, "executor_cpu_time_ns": 1_000_000_000, "host": "b", **slow}
    tasks.append(task(0, 0, slow_ms, task_id=9, **last))
    length = max(slow_ms, 6_000)
    return run_of(
        round(length) + 1_000,
        tasks=tasks,
        stages=[stage(0, 0, length, rdd_names=rdds or ["FileScanRDD"])],
        jobs=[job(0, 0, length)],
        executors=[executor("1", 4)],
    )


def test_finds_the_reader_of_a_slow_file_in_real_spark() -> None:
    (finding,) = found(RULE, fault_log("slow_read"))
    assert "waited for storage: 1 task read" in finding.title
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 10_000
    assert found(SKEWED_STAGE, fault_log("slow_read")) == []


def test_silent_where_all_read_alike() -> None:
    assert found(RULE, spark_wrote("none")) == []
    assert found(RULE, reading(2_000)) == []


def test_the_price_is_the_same_input_at_the_usual_rate() -> None:
    (finding,) = found(RULE, reading())
    assert finding.wasted_core_ms == 58_000
    # 16 s of work on four cores take 4 s, or a task more; it took 60 s.
    assert finding.wasted_wall_ms is not None
    assert 54_000 <= finding.wasted_wall_ms <= 56_000
    assert "on host b" in finding.advice[0].text


def test_a_task_that_computes_is_no_slow_reader() -> None:
    assert found(RULE, reading(executor_cpu_time_ns=50_000_000_000)) == []


def test_a_task_that_reads_little_or_much_more_is_no_slow_reader() -> None:
    assert found(RULE, reading(input_bytes=1_000_000)) == []
    assert found(RULE, reading(input_bytes=2_000_000_000)) == []


def test_where_the_cpu_time_is_not_known_nothing_is_said() -> None:
    assert found(RULE, reading(executor_cpu_time_ns=None)) == []


def test_a_wait_for_python_is_none_for_storage() -> None:
    assert found(RULE, reading(rdds=["PythonRDD"])) == []
