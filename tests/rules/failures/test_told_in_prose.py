"""Troubles that people tell in sentences of their own; the address of each beside it."""

from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.base import Rule
from emberscope.rules.failures.heap import RULE as HEAP
from emberscope.rules.failures.killed import RULE as KILLED
from emberscope.rules.failures.network import RULE as NETWORK
from emberscope.rules.failures.no_resources import RULE as NO_RESOURCES
from emberscope.rules.failures.python_module import RULE as PYTHON_MODULE
from emberscope.rules.failures.streaming_checkpoint import RULE as CHECKPOINT
from emberscope.rules.failures.streaming_offsets import RULE as OFFSETS
from emberscope.sources.kind import kind_of_bytes
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

TOLD: tuple[tuple[Rule[Any], str, str], ...] = (
    # github.com/kubeflow/spark-operator/issues/1159
    (NETWORK, "Executors that are not on the same host as the driver cannot connect to the driver", "be reached"),
    # github.com/mozilla/telemetry-streaming/issues/25
    (
        OFFSETS,
        "kafka may get rid of some data that hasn't been fetched: it has not been read yet, and is lost",
        "Kafka",
    ),
    # github.com/mlrun/mlrun/pull/3391
    (PYTHON_MODULE, "Python modules may not be available on the worker nodes: import errors in the UDF", "executors"),
    # github.com/projectglow/glow/pull/25
    (HEAP, "Job is slow or OOMs while using an aggregate like collect_list", "heap"),
    # github.com/kubeflow/spark-operator/issues/1638
    (KILLED, "memory usage of the executor grows to the limit and my executor pods get OOM", "137"),
    # github.com/kubeflow/spark-operator/issues/401
    (NO_RESOURCES, "all executor pods were in pending status until I reduced their memory to 550GB", "resources"),
    # github.com/apache/spark/pull/35513
    (
        CHECKPOINT,
        "stream: offsets of batch 113258 do not exist: not exist in the commits, it cannot start",
        "checkpoint",
    ),
)


@pytest.mark.parametrize(("rule", "words", "said"), TOLD, ids=lambda value: getattr(value, "code", None))
def test_is_known_by_its_words(rule: Rule[Any], words: str, said: str) -> None:
    (finding, *_) = found(rule, run_of_words(words))
    assert said in finding.title + finding.summary


def test_the_way_to_the_api_server() -> None:
    # github.com/kubeflow/spark-operator/issues/2338, as Airflow keeps it
    line = (
        "[2024-11-27, 05:08:31 CET] {pod_manager.py:472} INFO - [spark-kubernetes-driver] Caused by: "
        "java.io.IOException: Failed to connect to kubernetes.default.svc/10.0.0.1:443"
    )
    (finding,) = found(NETWORK, run_of_log(line))
    assert "API server" in finding.title
    assert kind_of_bytes(line.encode(), "log") == "container_log"  # and no JSON, though it begins with a bracket


def test_frames_behind_an_empty_line_belong_to_the_traceback() -> None:
    # github.com/Cyb3rWard0g/HELK/issues/226
    text = (
        "ModuleNotFoundError: No module named 'numpy'\n\n"
        "\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:452)"
    )
    (finding,) = found(PYTHON_MODULE, run_of_log(text))
    assert finding.title == "Python module numpy is missing on the executors"
