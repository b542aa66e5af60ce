from __future__ import annotations

from emberscope.rules.evaluate import evaluate
from emberscope.rules.executors.task_failures import RULE
from tests.rules.executors.failures import ended_by, failed, failed_stage, removed, thrown
from tests.rules.fault_logs import event_log, fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

FULL = {"error_class": "java.io.IOException", "error_message": "No space left on device"}


def test_finds_attempts_that_failed_and_ran_again_in_real_spark() -> None:
    (finding,) = found(RULE, event_log("spark-4.3-retried.zstd"))
    assert "2 task attempts failed and ran again" in finding.title
    assert "ValueError: again at retried_job.py:45" in finding.summary
    assert finding.where.stage == 3
    assert finding.wasted_wall_ms is not None


def test_leaves_what_a_lost_executor_took_with_it_to_that_rule() -> None:
    findings = found(RULE, event_log("spark-4.3-executor-loss/eventlog_v2_app-20261130124114-0000"))
    assert findings == []


def test_tells_what_a_storm_ended_to_that_rule_and_the_rest_itself() -> None:
    (finding,) = found(RULE, fault_log("retry_storm"))
    assert "4 task attempts failed" in finding.title
    assert finding.where.stage == 4


def test_silent_where_nothing_failed() -> None:
    assert found(RULE, spark_wrote("none")) == []


def full_disk() -> list[dict[str, object]]:
    return [
        failed(0, 1_000 * n, 900, **{**FULL, "attempt": n, "task_id": 900 + n, "executor_id": str(n % 2)})
        for n in range(4)
    ]


def test_a_full_disk_that_ended_a_job_is_critical_and_names_the_disks() -> None:
    run = run_of(
        tasks=[*full_disk(), task(0, 0, 80_000, task_id=1, task_index=1, shuffle_write_bytes=3 << 30)],
        stages=[failed_stage(0, 0, 90_000)],
        jobs=[ended_by(0, 0, 0, 90_000, "java.io.IOException: No space left on device")],
        executors=[executor("0", 1), executor("1", 1)],
    )
    (finding,) = found(RULE, run)
    assert finding.title == "Job 0 failed in stage 0: the local disks were full"
    assert (finding.where.job, finding.where.stage) == (0, 0)
    assert finding.wasted_wall_ms is None
    assert finding.wasted_core_ms == 83_600
    assert "spark.local.dir" in finding.advice[0].text
    assert "3.0 GiB" in finding.advice[1].text
    first = evaluate(run).findings[0]
    assert (first.rule.code, first.severity) == ("H4", "critical")


def test_a_full_disk_that_the_job_survived_is_priced_by_replay() -> None:
    tasks = [task(0, 0, 10_000, task_id=n, task_index=n, executor_id="0") for n in range(4)]
    tasks += [failed(0, 0, 20_000, **{**FULL, "task_id": 10, "task_index": 4, "executor_id": "1"})]
    tasks += [task(0, 20_000, 10_000, task_id=11, task_index=4, executor_id="0")]
    run = run_of(
        tasks=tasks,
        stages=[stage(0, 0, 30_000)],
        jobs=[job(0, 0, 30_000)],
        executors=[executor("0", 4), executor("1", 1)],
    )
    (finding,) = found(RULE, run)
    assert finding.title == "1 task attempt failed and ran again: the local disk was full"
    assert finding.wasted_core_ms == 20_000
    assert finding.consequence == "lost"
    assert finding.wasted_wall_ms is not None


def test_an_output_commit_that_was_denied_is_no_failure() -> None:
    run = run_of(tasks=[failed(0, 0, 1_000, "TaskCommitDenied"), task(0, 0, 2_000)], stages=[stage(0, 0, 2_000)])
    assert found(RULE, run) == []


def test_one_short_failure_among_much_work_is_a_hint() -> None:
    run = run_of(
        1_000_000,
        tasks=[thrown(0, 0, 0), *(task(0, 0, 50_000, task_id=n, task_index=n) for n in range(20))],
        stages=[stage(0, 0, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[executor("1", 10)],
    )
    (finding,) = found(RULE, run)
    assert finding.consequence == "hint"


def test_fetch_failures_without_a_lost_executor_are_told_with_what_ran_again() -> None:
    fetch = failed(1, 20_000, 1_000, "FetchFailed", task_id=50, error_message="Failed to connect to host/10.0.0.3:7337")
    maps = [task(0, 0, 10_000, task_id=n, task_index=n, stage_attempt=0) for n in range(4)]
    again = [task(0, 22_000, 10_000, task_id=60 + n, task_index=n, stage_attempt=1) for n in range(4)]
    rows = {
        "tasks": [*maps, fetch, *again, task(1, 33_000, 1_000, task_id=70, stage_attempt=1)],
        "stages": [
            stage(0, 0, 10_000),
            stage(0, 22_000, 32_000, stage_attempt=1),
            failed_stage(1, 20_000, 21_000, parent_ids=[0]),
            stage(1, 33_000, 34_000, stage_attempt=1, parent_ids=[0]),
        ],
        "jobs": [job(0, 0, 34_000)],
    }
    (finding,) = found(RULE, run_of(executors=[executor("1", 4)], **rows))
    assert finding.wasted_core_ms == 41_000
    assert {a.setting: a.value for a in finding.advice if a.setting} == {"spark.shuffle.io.maxRetries": "10"}
    # The same with an executor that was removed is that rule's.
    assert found(RULE, run_of(executors=[removed("1", 20_500, "worker lost")], **rows)) == []


def test_a_job_that_failed_without_a_failed_task_is_told_by_its_message() -> None:
    message = "Job aborted due to stage failure: Total size of serialized results of 9 tasks (1.1 GiB) is bigger than"
    row = {**job(3, 0, 5_000), "status": "failed", "error_message": message, "stage_ids": [0]}
    run = run_of(tasks=[task(0, 0, 4_000)], stages=[failed_stage(0, 0, 5_000, failure_reason=message)], jobs=[row])
    (finding,) = found(RULE, run)
    assert "Total size of serialized results" in finding.title
    assert finding.consequence == "ended"
