from __future__ import annotations

from emberscope.rules.evaluate import evaluate
from emberscope.rules.executors.retry_storm import RULE
from tests.rules.executors.failures import ended_by, failed_stage, thrown
from tests.rules.fault_logs import event_log, fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def test_finds_the_exception_that_ended_a_job_of_real_spark() -> None:
    (finding,) = found(RULE, fault_log("retry_storm"))
    assert (finding.where.job, finding.where.stage, finding.where.line) == (4, 5, "generate_events.py:60")
    assert "all 4 attempts" in finding.title
    assert "Exception: deliberate permanent failure" in finding.summary
    assert finding.wasted_wall_ms is None
    assert finding.advice[0].kind == "code"
    assert "generate_events.py:60" in finding.advice[0].text


def test_what_ended_the_job_is_critical_and_first() -> None:
    first = evaluate(fault_log("retry_storm")).findings[0]
    assert (first.rule.code, first.severity) == ("H5", "critical")


def test_silent_where_attempts_failed_and_the_job_went_on() -> None:
    assert found(RULE, event_log("spark-4.3-retried.zstd")) == []
    assert found(RULE, spark_wrote("none")) == []


def ended(*texts: str, **more: str) -> list[str]:
    """The titles for a job of which task 0 ended by these exceptions."""
    attempts = [thrown(0, 1_000 * n, n, text, **more) for n, text in enumerate(texts)]
    run = run_of(
        tasks=[*attempts, task(0, 0, 5_000, task_id=1, task_index=1)],
        stages=[failed_stage(0, 0, 5_000)],
        jobs=[ended_by(0, 0, 0, 5_000)],
        executors=[executor("1", 4)],
    )
    return [finding.title for finding in found(RULE, run)]


def test_other_exceptions_each_time_are_no_storm() -> None:
    assert len(ended("bad row", "bad row", "bad row")) == 1
    assert ended("bad row", "timeout", "bad row") == []
    assert ended("bad row") == []


def test_a_full_disk_and_a_lost_executor_are_no_storm_however_often() -> None:
    full = {"error_class": "java.io.IOException"}
    assert ended(*["No space left on device"] * 4, **full) == []
    assert ended(*["gone"] * 4, reason="ExecutorLostFailure") == []


def test_a_job_that_was_cancelled_did_not_fail() -> None:
    run = run_of(
        tasks=[thrown(0, 0, n) for n in range(4)],
        stages=[failed_stage(0, 0, 5_000)],
        jobs=[{**ended_by(0, 0, 0, 5_000), "error_message": "Job 0 cancelled as part of cancellation of all jobs"}],
    )
    assert found(RULE, run) == []


def test_says_how_many_jobs_succeeded_after_it() -> None:
    run = run_of(
        tasks=[thrown(0, 1_000 * n, n) for n in range(4)],
        stages=[failed_stage(0, 0, 5_000), stage(1, 6_000, 7_000)],
        jobs=[ended_by(0, 0, 0, 5_000), job(1, 6_000, 7_000)],
    )
    (finding,) = found(RULE, run)
    assert "1 job succeeded after it" in finding.summary


def test_memory_asks_for_fewer_rows_in_a_task() -> None:
    error = {"error_class": "org.apache.spark.memory.SparkOutOfMemoryError"}
    run = run_of(
        tasks=[
            thrown(0, 1_000 * n, n, "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes", **error)
            for n in range(4)
        ],
        stages=[failed_stage(0, 0, 5_000)],
        jobs=[ended_by(0, 0, 0, 5_000)],
    )
    (finding,) = found(RULE, run)
    assert "more memory" in finding.advice[0].text


def test_jobs_that_failed_alike_are_told_together() -> None:
    rows = [thrown(n // 4, 1_000 * n, n % 4, task_id=n) for n in range(12)]
    jobs = [{**ended_by(n, 0, 4_000 * n, 4_000 * n + 4_000), "job_id": n} for n in range(3)]
    stages = [failed_stage(n, 4_000 * n, 4_000 * n + 4_000) for n in range(3)]
    (finding,) = found(RULE, run_of(tasks=rows, stages=stages, jobs=jobs))
    assert finding.title.startswith("Job 0 and 2 more failed: task 0 of stage 0 threw the same exception")
    assert finding.wasted_core_ms == 12_000


def test_a_job_that_spark_ended_with_the_bare_exception_names_the_task_that_failed_most() -> None:
    attempts = [thrown(0, 1_000 * n, n, task_index=3) for n in range(4)]
    other = thrown(0, 500, 0, task_index=5, task_id=50)
    row = {**ended_by(0, 0, 0, 5_000), "error_message": "[PYTHON_EXCEPTION] bad row"}
    (finding,) = found(RULE, run_of(tasks=[*attempts, other], stages=[failed_stage(0, 0, 5_000)], jobs=[row]))
    assert "task 3 of stage 0 threw the same exception on all 4 attempts" in finding.title
