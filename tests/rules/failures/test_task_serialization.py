from __future__ import annotations

import pytest

from emberscope.rules.failures.task_serialization import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# SparkException of ClosureCleaner with SerializationDebugger's stack, as in Spark's own tests and many reports.
CLOSURE = """\
Exception in thread "main" org.apache.spark.SparkException: Task not serializable
\tat org.apache.spark.util.ClosureCleaner$.ensureSerializable(ClosureCleaner.scala:444)
\tat com.example.Load$.main(Load.scala:42)
Caused by: java.io.NotSerializableException: com.example.Client
Serialization stack:
\t- object not serializable (class: com.example.Client, value: com.example.Client@1)
\t- field (class: com.example.Load, name: client, type: class com.example.Client)"""
CONTEXT = (
    "pyspark.errors.exceptions.base.PySparkRuntimeError: [CONTEXT_ONLY_VALID_ON_DRIVER] It appears that you are "
    "attempting to reference SparkContext from a broadcast variable, action, or transformation."
)
PICKLE = "_pickle.PicklingError: Could not serialize object: TypeError: cannot pickle '_thread.RLock' object"
# TaskSetManager and CoarseGrainedSchedulerBackend.
REFUSED = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Serialized task 0:0 was 146289487 bytes, which "
    "exceeds max allowed: spark.rpc.message.maxSize (134217728 bytes). Consider increasing spark.rpc.message.maxSize "
    "or using broadcast variables for large values."
)
WARNED = (
    "18/01/01 00:00:00 WARN TaskSetManager: Stage 3 contains a task of very large size (2190 KB). The maximum "
    "recommended task size is 100 KB."
)


def test_names_the_object_the_field_and_the_line() -> None:
    (finding,) = found(RULE, run_of_log(CLOSURE))
    assert finding.title == (
        "Task not serializable: com.example.Client cannot be sent to executors (Load.scala:42 in Load$.main)"
    )
    assert "field `client` of com.example.Load" in finding.summary
    assert finding.where.line == "Load.scala:42"


@pytest.mark.parametrize(("text", "words"), [(CONTEXT, "lives on the driver"), (PICKLE, "_thread.RLock")])
def test_python(text: str, words: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert words in finding.title + finding.summary
    assert finding.consequence == "ended"


def test_a_task_that_is_too_large_gets_a_limit_that_fits() -> None:
    (finding,) = found(RULE, run_of_log(REFUSED))
    assert finding.title == "A task of 140 MiB is too large to be sent to an executor (limit 128 MiB)"
    assert (finding.advice[1].setting, finding.advice[1].value) == ("spark.rpc.message.maxSize", "168")


def test_above_the_largest_limit_there_is_none() -> None:
    (finding,) = found(RULE, run_of_log(REFUSED.replace("146289487", "3000000000")))
    assert [advice.kind for advice in finding.advice] == ["code", "check"]


def test_the_warning_is_a_hint() -> None:
    (finding,) = found(RULE, run_of_log(WARNED))
    assert finding.consequence == "hint"
    assert "2.1 MiB" in finding.title


def test_silent_on_healthy_lines() -> None:
    text = (
        "24/01/01 00:00:00 INFO TaskSetManager: Starting task 0.0 in stage 0.0 (TID 0) (h, executor 1, partition "
        "0, PROCESS_LOCAL, 9017 bytes)"
    )
    assert found(RULE, run_of_log(text)) == []
