from __future__ import annotations

from emberscope.rules.failures.no_resources import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# TaskSchedulerImpl of Spark.
WAITING = (
    "22/01/01 00:00:15 WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster UI to "
    "ensure that workers are registered and have sufficient resources"
)
# Client of Spark on YARN, of 3.x and of 2.x.
TOO_LARGE = (
    'Exception in thread "main" java.lang.IllegalArgumentException: Required executor memory (20480 MB), offHeap '
    "memory (0) MB, overhead (2048 MB), and PySpark memory (0 MB) is above the max threshold (12288 MB) of this "
    "cluster!"
)
TOO_LARGE_2 = (
    'Exception in thread "main" java.lang.IllegalArgumentException: Required executor memory (4096+384 MB) is above '
    "the max threshold (3072 MB) of this cluster!"
)
# kube-scheduler.
PODS = "22/01/01 00:00:15 WARN Pod: FailedScheduling: 0/3 nodes are available: 3 Insufficient memory."
# LeafQueue of Hadoop's capacity scheduler.
QUEUE = (
    "22/01/01 00:00:15 WARN Client: diagnostics: Application is added to the scheduler and is not yet activated. "
    "Queue's AM resource limit exceeded. Details : AM Partition = <DEFAULT_PARTITION>"
)


def test_an_application_that_waits() -> None:
    (finding,) = found(RULE, run_of_log(WAITING))
    assert "more resources than the cluster has free" in finding.title
    assert finding.consequence == "ended"


def test_one_that_waited_and_got_going_is_a_hint() -> None:
    after = "\n22/01/01 00:03:00 WARN TaskSetManager: Stage 0 contains a task of very large size (1234 KiB)."
    (finding,) = found(RULE, run_of_log(WAITING + after))
    assert finding.consequence == "hint"


def test_values_are_computed_from_the_line() -> None:
    (finding,) = found(RULE, run_of_log(TOO_LARGE))
    assert "20,480 MB" in finding.title
    assert "12,288 MB" in finding.title
    assert finding.advice[0].setting == "spark.executor.memory"
    assert finding.advice[0].value == "10g"  # 12,288 less the 2,048 of overhead
    (old,) = found(RULE, run_of_log(TOO_LARGE_2))
    assert old.advice[0].value == "2560m"  # the most whole quarter GiB with 384 MB beside it


def test_pods_and_queues() -> None:
    (pods,) = found(RULE, run_of_log(PODS))
    assert "3 Insufficient memory" in pods.summary
    (queue,) = found(RULE, run_of_log(QUEUE))
    assert "queue" in queue.title


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("my application is stuck in state ACCEPTED for an hour"))
    assert found(RULE, run_of_words("the dashboard shows accepted changes")) == []


def test_healthy_lines() -> None:
    assert (
        found(RULE, run_of_log("22/01/01 00:00:15 INFO Client: Application report for application_1 (state: ACCEPTED)"))
        == []
    )
