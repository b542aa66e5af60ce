from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.base import Finding
from emberscope.rules.executors.lost_executors import RULE
from emberscope.rules.executors.removals import why_of
from emberscope.tables.run import Run
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from tests.rules.executors.failures import ended_by, failed, failed_stage, removed
from tests.rules.fault_logs import event_log, fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task, with_rows


def only(run: Run) -> Finding:
    (finding,) = found(RULE, run)
    return finding


def advised(finding: Finding) -> dict[str, str | None]:
    return {a.setting: a.value for a in finding.advice if a.setting}


def test_names_the_executor_that_real_spark_lost_and_prices_what_ran_again() -> None:
    finding = only(event_log("spark-4.3-retried.zstd"))
    assert finding.where.executor == "0"
    assert finding.title == "Executor 0 went away, and the shuffle output there was made again"
    assert "exited with code 137" in finding.summary
    assert "4 tasks of stages that were done ran again" in finding.summary
    assert finding.wasted_wall_ms is not None
    assert 1_000 < finding.wasted_wall_ms < 15_000


def test_the_same_of_an_rdd_job() -> None:
    finding = only(event_log("spark-4.3-executor-loss/eventlog_v2_app-20261130124114-0000"))
    assert finding.wasted_core_ms is not None
    assert finding.wasted_core_ms > 3_000


def test_silent_where_no_work_was_lost() -> None:
    assert found(RULE, spark_wrote("none")) == []
    idle = run_of(tasks=[task(0, 0, 9_000)], executors=[removed("2", 50_000, "Executor killed by driver.")])
    assert found(RULE, idle) == []


def lossy(reason: str, conf: dict[str, str] | None = None, **more: Any) -> Run:
    """A map stage of 40 s on two executors; one goes 5 s into the reduce stage, and its four map tasks run again."""
    maps = [task(0, 0, 10_000, task_id=n, task_index=n, executor_id=str(n % 2)) for n in range(8)]
    reads = [
        failed(1, 10_000, 5_000, "ExecutorLostFailure", task_id=20, task_index=0, executor_id="1"),
        failed(1, 10_000, 6_000, "FetchFailed", task_id=21, task_index=1, executor_id="0"),
    ]
    again = [task(0, 17_000, 10_000, task_id=30 + n, task_index=n, executor_id="0", stage_attempt=1) for n in range(4)]
    last = [task(1, 27_000, 3_000, task_id=40 + n, task_index=n, executor_id="0", stage_attempt=1) for n in range(2)]
    return run_of(
        40_000,
        conf=conf,
        tasks=[*maps, *reads, *again, *last],
        stages=[
            stage(0, 0, 10_000),
            failed_stage(1, 10_000, 16_000, parent_ids=[0]),
            stage(0, 17_000, 27_000, stage_attempt=1),
            stage(1, 27_000, 30_000, stage_attempt=1, parent_ids=[0]),
        ],
        jobs=[job(0, 0, 30_000)],
        executors=[executor("0", 4), removed("1", 15_000, reason, **more)],
    )


def test_the_price_is_the_work_that_failed_and_ran_again() -> None:
    finding = only(lossy("Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB used."))
    assert finding.wasted_core_ms == 5_000 + 6_000 + 40_000
    # The stage took from 10 s to 30 s; its two tasks of 3 s take 3 s.
    assert finding.wasted_wall_ms == 17_000
    assert finding.consequence == "lost"


def test_a_container_over_its_limit_gets_half_as_much_overhead_again() -> None:
    reason = "Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used."
    conf = {"spark.master": "yarn", "spark.executor.memory": "10g", "spark.executor.cores": "5"}
    assert advised(only(lossy(reason, conf))) == {"spark.executor.memoryOverhead": "1536m", "spark.executor.cores": "4"}
    own = {**conf, "spark.executor.memoryOverhead": "2g", "spark.executor.cores": "1"}
    assert advised(only(lossy(reason, own))) == {"spark.executor.memoryOverhead": "3g"}


def test_a_standalone_worker_gets_no_setting_that_it_does_not_know() -> None:
    finding = only(lossy("Command exited with code 137", {"spark.master": "spark://a:7077"}))
    assert advised(finding) == {}
    assert "dmesg" in finding.advice[0].text


def test_a_node_that_was_taken_back_lets_its_output_be_moved() -> None:
    finding = only(lossy("Executor decommission: spot", {"spark.master": "k8s://a"}, decommissioned=True))
    assert advised(finding) == {"spark.decommission.enabled": "true", "spark.storage.decommission.enabled": "true"}


def test_dynamic_allocation_that_let_output_go_is_told_to_keep_it() -> None:
    conf = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "false"}
    assert advised(only(lossy("Executor killed by driver.", conf))) == {
        "spark.dynamicAllocation.shuffleTracking.enabled": "true"
    }


def test_one_task_that_ends_each_executor_it_runs_on_is_the_cause() -> None:
    attempts = [
        failed(0, 10_000 * n, 9_000, "ExecutorLostFailure", task_id=n, task_index=3, executor_id=str(n), attempt=n)
        for n in range(4)
    ]
    run = run_of(
        tasks=attempts,
        stages=[failed_stage(0, 0, 40_000)],
        jobs=[ended_by(0, 3, 0, 40_000, "ExecutorLostFailure (executor 3 exited): Command exited with code 137")],
        executors=[removed(str(n), 10_000 * n + 9_000, "Command exited with code 137", 10_000 * n) for n in range(4)],
    )
    finding = only(run)
    assert finding.title == "Job 0 failed: task 3 of stage 0 took 4 executors with it"
    assert finding.consequence == "ended"
    assert "task 3 of stage 0" in finding.advice[0].text


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("Container from a bad node: container_1 on host: h. Exit status: 137. Diagnostics: killed", "memory"),
        ("The executor with id 4 exited with exit code 137(SIGKILL, possible container OOM).", "memory"),
        ("Executor heartbeat timed out after 127364 ms", "heartbeat"),
        ("Command exited with code 52", "heap"),
        (
            "Container marked as failed: c_1. Exit status: -100. Diagnostics: Container released on a *lost* node",
            "node",
        ),
        ("Container container_1 was preempted.", "preempted"),
        ("Executor killed by driver.", "asked"),
        ("Container container_1 exited from explicit termination request.", "asked"),
        ("Command exited with code 143", "terminated"),
        ("worker lost: 10.0.0.1:35971 got disassociated", "crash"),
        ("", "crash"),
        (None, "crash"),
    ],
)
def test_reasons_of_cluster_managers_are_understood(reason: str | None, why: str) -> None:
    assert why_of(reason) == why


def test_finds_what_a_kill_under_a_shuffle_cost_with_adaptive_execution() -> None:
    finding = only(fault_log("fetch_failure"))
    assert finding.where.executor == "0"
    assert "17 tasks of stages that were done ran again" in finding.summary
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 15_000


def test_with_adaptive_execution_what_runs_again_is_a_stage_of_another_id() -> None:
    run = lossy("Command exited with code 137")
    # The map stage was stage 7 of a job of its own; stage 0 is what the next job calls it.
    tasks = [{**row, "stage_id": 7} if row["task_id"] < 8 else row for row in run.tables["tasks"].to_pylist()]
    tasks = [{**row, "stage_attempt": 0} if row["stage_id"] == 0 else row for row in tasks]
    stages = [row for row in run.tables["stages"].to_pylist() if (row["stage_id"], row["stage_attempt"]) != (0, 0)]
    stages = [{**row, "stage_attempt": 0} if row["stage_id"] == 0 else row for row in stages]
    apart = with_rows(run, "tasks", TASKS.from_rows(tasks))
    apart = with_rows(apart, "stages", STAGES.from_rows([*stages, {**stages[0], "stage_id": 7, "parent_ids": []}]))
    finding = only(apart)
    assert finding.where.executor == "1"
    assert finding.wasted_core_ms == 5_000 + 6_000 + 40_000
