from __future__ import annotations

import pytest

from emberscope.rules.failures.evicted import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# ExecutorPodsLifecycleManager of Spark, with the messages of the kubelet's eviction manager.
HEAD = (
    "22/01/01 00:00:00 ERROR TaskSchedulerImpl: Lost executor 4 on 10.0.0.25: \nThe executor with id 4 exited with "
    "exit code 143(unexpected).\nThe API gave the following brief reason: Evicted\nThe API gave the following message: "
)
STORAGE = HEAD + (
    "The node was low on resource: ephemeral-storage. Container spark-kubernetes-executor was using 107260Ki, which "
    "exceeds its request of 0. "
)
OWN = HEAD + "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi. "
VOLUME = HEAD + 'Usage of EmptyDir volume "spark-local-dir-1" exceeds the limit "10Gi". '
MEMORY = HEAD + (
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. Container "
    "spark-kubernetes-executor was using 9Gi, request is 8Gi, has larger consumption of memory. "
)
SILENT = HEAD


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        (STORAGE, "the node ran out of ephemeral storage (it used 107260Ki, requested 0)", "spark-local-dir-1"),
        (OWN, "its limit of ephemeral storage was passed (limit 10Gi)", "limit"),
        (VOLUME, "its limit of ephemeral storage was passed", "limit"),
        (MEMORY, "the node ran low on memory (it used 9Gi, requested 8Gi)", "request and limit"),
        (SILENT, "do not say for which resource", "kubectl describe"),
    ],
)
def test_for_which_resource(text: str, title: str, words: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith("Executor 4's pod was evicted")
    assert title in finding.title
    assert any(words in advice.text for advice in finding.advice)


def test_storage_is_no_matter_of_memory() -> None:
    (finding,) = found(RULE, run_of_log(STORAGE))
    assert "memoryOverhead" not in " ".join(advice.text for advice in finding.advice)


def test_what_the_kubelet_says_comes_before_the_conditions_of_the_node() -> None:
    """As `kubectl describe node` lists them behind the event."""
    conditions = "  MemoryPressure   False\n  DiskPressure     True\n"
    (storage,) = found(RULE, run_of_log(STORAGE + "\n" + conditions))
    (memory,) = found(RULE, run_of_log(MEMORY + "\n" + conditions))
    assert "ran out of ephemeral storage" in storage.title
    assert "ran low on memory" in memory.title


def test_a_kill_by_the_cgroup_is_no_eviction() -> None:
    text = (
        "22/01/01 00:00:00 ERROR TaskSchedulerImpl: Lost executor 4 on 10.0.0.25: \nThe executor with id 4 exited with "
        "exit code 137(SIGKILL, possible container OOM).\n\t termination reason: OOMKilled"
    )
    assert found(RULE, run_of_log(text)) == []


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("our executor pods get evicted on kubernetes"))
    assert found(RULE, run_of_words("cached blocks are evicted from memory")) == []


def test_healthy_lines() -> None:
    assert found(RULE, run_of_log("22/01/01 00:00:00 INFO MemoryStore: 3 blocks selected for dropping")) == []
