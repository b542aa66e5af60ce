from __future__ import annotations

from emberscope.rules.failures.driver_silent import RULE as DRIVER_SILENT
from emberscope.rules.failures.heartbeat import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# HeartbeatReceiver and TaskSchedulerImpl of Spark.
SILENT = (
    "20/03/01 12:00:00 WARN HeartbeatReceiver: Removing executor 3 with no recent heartbeats: 165834 ms exceeds "
    "timeout 120000 ms\n"
    "20/03/01 12:00:00 ERROR TaskSchedulerImpl: Lost executor 3 on host-1: Executor heartbeat timed out after 165834 "
    "ms\n"
)
LOCAL = (
    "20/03/01 12:00:00 ERROR TaskSchedulerImpl: Lost executor driver on localhost: Executor heartbeat timed out after "
    "148649 ms"
)
# TaskSchedulerImpl with the reason of CoarseGrainedSchedulerBackend.
BROKEN = (
    "20/03/01 12:00:00 ERROR TaskSchedulerImpl: Lost executor 4 on host-2: Remote RPC client disassociated. Likely due "
    "to containers exceeding thresholds, or network issues. Check driver logs for WARN messages."
)
# Executor and CoarseGrainedExecutorBackend of Spark.
SIXTY = "20/03/01 12:00:00 ERROR Executor: Exit as unable to send heartbeats to driver more than 60 times"
END = (
    "20/03/01 12:00:00 ERROR CoarseGrainedExecutorBackend: Executor self-exiting due to : Driver host-1:4040 "
    "disassociated! Shutting down."
)
REGULAR = "20/03/01 12:00:00 DEBUG Executor: Reporting executor heartbeat to driver. Next heartbeat in 10000 ms"


def test_silence_is_told_with_its_length_and_a_timeout_that_covers_it() -> None:
    (finding,) = found(RULE, run_of_log(SILENT))
    assert "executor 3 for 2 min 46 s" in finding.title
    (timeout,) = [advice for advice in finding.advice if advice.setting == "spark.network.timeout"]
    assert timeout.value == "360s"
    assert "garbage" in finding.summary


def test_in_local_mode_the_heap_is_the_drivers() -> None:
    (finding,) = found(RULE, run_of_log(LOCAL))
    assert "spark.driver.memory" in finding.summary
    assert not [advice for advice in finding.advice if advice.setting == "spark.network.timeout"]


def test_a_broken_connection_says_where_to_look() -> None:
    (finding,) = found(RULE, run_of_log(BROKEN))
    assert "executor 4" in finding.title
    assert "cannot be told" in finding.summary
    assert finding.confidence < 0.7


def test_an_executor_without_driver() -> None:
    (finding,) = found(DRIVER_SILENT, run_of_log(SIXTY))
    assert "60 times" in finding.title
    assert finding.consequence == "lost"


def test_executors_that_see_the_driver_end_are_a_hint() -> None:
    (finding,) = found(DRIVER_SILENT, run_of_log(END))
    assert finding.consequence == "hint"


def test_regular_heartbeats_are_nothing() -> None:
    assert found(RULE, run_of_log(REGULAR)) == []
    assert found(DRIVER_SILENT, run_of_log(REGULAR)) == []


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("executor heartbeat timed out, what does it mean?"))
    assert found(RULE, run_of_words("we keep losing executors, ExecutorLostFailure all the time"))[0].confidence < 0.7
    assert not found(RULE, run_of_words("executors are lost with exit code 137"))
    assert not found(RULE, run_of_words("what does spark.executor.heartbeatInterval do?"))


# Recorded with Spark 4.3.0: the last heartbeat of an executor came when the driver had begun to stop.
LAST_HEARTBEAT = (
    "26/12/01 04:49:03 INFO CoarseGrainedExecutorBackend: Driver commanded a shutdown\n"
    "26/12/01 04:49:03 WARN Executor: Issue communicating with driver in heartbeater\n"
    "org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
    "\tat org.apache.spark.executor.Executor.reportHeartBeat(Executor.scala:1564)\n"
    "Caused by: java.lang.RuntimeException: org.apache.spark.SparkException: Could not find HeartbeatReceiver.\n"
    "\tat org.apache.spark.rpc.netty.Dispatcher.postMessage(Dispatcher.scala:181)\n"
)


def test_a_heartbeat_to_a_driver_that_stops_is_no_failure():
    assert not found(DRIVER_SILENT, run_of_log(LAST_HEARTBEAT))


def test_one_heartbeat_that_failed_ended_nothing():
    kept = LAST_HEARTBEAT.replace("Could not find HeartbeatReceiver.", "Connection reset by peer")
    (finding,) = found(DRIVER_SILENT, run_of_log(kept))
    assert "ended itself" not in finding.title
    assert finding.consequence == "hint"
