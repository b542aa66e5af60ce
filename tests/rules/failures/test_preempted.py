from __future__ import annotations

import pytest

from emberscope.rules.failures.preempted import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# YarnAllocator and YarnSchedulerBackend of Spark; ExecutorPodsLifecycleManager of Spark on Kubernetes.
YARN = "22/01/01 00:00:00 INFO YarnAllocator: Container container_1_0001_01_000002 on host: worker-3 was preempted."
EVENT = (
    "22/01/01 00:00:00 WARN TaskSetManager: Lost task 1.0 in stage 2.0 (TID 9, host-1, executor 3): "
    "ExecutorLostFailure (executor 3 exited unrelated to the running tasks) Reason: Executor for container "
    "container_1_0001_01_000004 exited because of a YARN event (e.g., preemption) and not because of an error in the "
    "running job."
)
DELETED = (
    "22/01/01 00:00:00 ERROR TaskSchedulerImpl: Lost executor 2 on 10.0.0.2: The executor with id 2 was deleted by a "
    "user or the framework."
)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (YARN, "YARN preempted executors"),
        (EVENT, "YARN preempted executor 3"),
        (DELETED, "The pod of executor 2 was deleted by a user or the framework"),
    ],
)
def test_who_took_it(text: str, title: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "lost"
    assert "memory" not in finding.summary


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("all my executors are preempted at noon and the job fails"))
    assert finding.consequence == "ended"


def test_healthy_lines() -> None:
    line = "22/01/01 00:00:00 INFO ExecutorAllocationManager: Executors 2 removed due to idle timeout."
    assert found(RULE, run_of_log(line)) == []
