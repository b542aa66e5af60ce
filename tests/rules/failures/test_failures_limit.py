from __future__ import annotations

from emberscope.rules.failures.failures_limit import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# ApplicationMaster and TaskSetManager of Spark.
LIMIT = (
    "22/01/01 00:00:00 INFO ApplicationMaster: Final app status: FAILED, exitCode: 11, (reason: Max number of executor "
    "failures (8) reached)"
)
NOWHERE = (
    "22/01/01 00:00:00 ERROR TaskSchedulerImpl: org.apache.spark.SparkException: Job aborted due to stage failure: "
    "Aborting TaskSet 3.0 because task 7 (partition 7)\ncannot run anywhere due to node and executor "
    "excludeOnFailure.\nMost recent failure:\nLost task 7.1 in stage 3.0 (TID 40, host-1, executor 2): "
    "java.io.IOException: bad disk"
)


def test_a_count_is_no_cause() -> None:
    (finding,) = found(RULE, run_of_log(LIMIT))
    assert "8 executors had failed" in finding.title
    assert "not a cause" in finding.summary
    assert {advice.setting: advice.value for advice in finding.advice}["spark.executor.maxNumFailures"] == "32"
    assert finding.consequence == "ended"


def test_old_names_for_old_versions() -> None:
    (finding,) = found(RULE, run_of_log(LIMIT, spark_version="3.3.0"))
    assert "spark.yarn.max.executor.failures" in {advice.setting for advice in finding.advice}


def test_a_task_that_cannot_run_anywhere() -> None:
    (finding,) = found(RULE, run_of_log(NOWHERE))
    assert finding.title.startswith("Task 7 failed on every executor")


def test_healthy_lines() -> None:
    assert (
        found(RULE, run_of_log("22/01/01 00:00:00 INFO ApplicationMaster: Final app status: SUCCEEDED, exitCode: 0"))
        == []
    )
