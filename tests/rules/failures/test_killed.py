from __future__ import annotations

import pytest

from emberscope.rules.failures.exit_code import RULE as EXIT_CODE
from emberscope.rules.failures.killed import RULE as KILLED
from emberscope.rules.failures.terminated import RULE as TERMINATED
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# ExecutorPodsLifecycleManager and KubernetesClusterSchedulerBackend of Spark 3.
KUBERNETES = """\
22/01/01 00:00:00 ERROR TaskSchedulerImpl: Lost executor 2 on 10.0.0.5: \

The executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).
"""
STATUS = (
    KUBERNETES + '22/01/01 00:00:01 WARN Pods: pod status: {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}\n'
)
# YarnAllocator of Spark 3 with the diagnostics of Hadoop.
YARN = (
    "21/03/01 10:00:00 ERROR YarnScheduler: Lost executor 4 on ip-1: Container from a bad node: "
    "container_1_0001_01_000005 on host: ip-1. Exit status: 137. Diagnostics: Container killed on request. "
    "Exit code is 137\n"
)
LIMIT = (
    "21/03/01 09:59:59 WARN YarnAllocator: Container killed by YARN for exceeding physical memory limits. 6.1 GB of 6 "
    "GB "
    "physical memory used. Consider boosting spark.executor.memoryOverhead.\n"
)
SPOT = (
    "21/03/01 09:59:00 WARN SpotWatcher: spot instance interruption notice for this host\n"
    "21/03/01 10:00:00 ERROR TaskSchedulerImpl: Lost executor 2 on ip-2: Command exited with code 137\n"
)
# A standalone cluster's Worker, client and scheduler, in a driver's log of local-cluster (Spark 4.3): INFO alone.
STANDALONE = (
    "26/12/01 04:00:18 INFO DAGScheduler: Submitting 6 missing tasks from ResultStage 0\n"
    "26/12/01 04:00:18 INFO Worker: Executor app-20261201041342-0000/2 finished with state EXITED message Command "
    "exited with code 137 exitStatus 137\n"
    "26/12/01 04:00:18 INFO StandaloneAppClient$ClientEndpoint: Executor updated: app-20261201041342-0000/2 is now "
    "EXITED (Command exited with code 137)\n"
)
# The kernel's own words (mm/oom_kill.c).
MACHINE = "[12345.678] Out of memory: Killed process 4242 (java) total-vm:9000000kB, anon-rss:7000000kB\n"
CGROUP = "[12345.678] Memory cgroup out of memory: Killed process 4242 (java) total-vm:9000000kB, anon-rss:7000000kB\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (KUBERNETES, "Executor 2 was killed by SIGKILL (exit code 137), most likely for its container's memory"),
        (STATUS, "Executor 2 was OOMKilled at its memory limit"),
        (YARN, "Executor 4 was killed by SIGKILL (exit code 137)"),
        (SPOT, "Executor 2 was killed when its node was taken away"),
        (MACHINE, "A container was killed by the kernel: the machine ran out of memory"),
        (CGROUP, "A container was OOMKilled at its memory limit"),
    ],
)
def test_137_is_told_apart_by_what_else_is_there(text: str, title: str) -> None:
    (finding,) = found(KILLED, run_of_log(text, rules=(KILLED,)))
    assert finding.title == title


def test_where_it_cannot_be_told_it_says_where_to_look() -> None:
    (finding,) = found(KILLED, run_of_log(YARN, rules=(KILLED,)))
    assert finding.confidence < 0.7
    assert finding.advice[0].kind == "check"
    assert "kubectl describe pod" in finding.advice[0].text


def test_memory_is_not_blamed_for_a_node_that_was_taken_back() -> None:
    (finding,) = found(KILLED, run_of_log(SPOT, rules=(KILLED,)))
    assert all("memory" not in (advice.setting or "") for advice in finding.advice)


def test_a_limit_that_yarn_names_is_told_by_its_own_rule_alone() -> None:
    assert found(KILLED, run_of_log(LIMIT + YARN, rules=(KILLED,))) == []


def test_in_plain_words() -> None:
    (finding,) = found(KILLED, run_of_words("Why do executors end with exit code 137 on EKS?", rules=(KILLED,)))
    assert "OOMKilled" in finding.summary


HEALTHY = """\
21/03/01 10:00:00 INFO ApplicationMaster: Final app status: SUCCEEDED, exitCode: 0
21/03/01 10:00:00 INFO TaskSetManager: Finished task 137.0 in stage 143.0 (TID 137) in 143 ms on ip-1 (executor 4)
21/03/01 10:00:01 INFO CoarseGrainedExecutorBackend: Driver commanded a shutdown
21/03/01 10:00:01 ERROR CoarseGrainedExecutorBackend: RECEIVED SIGNAL TERM
21/03/01 10:00:01 INFO YarnAllocator: Completed container container_1_0001_01_000005 (state: COMPLETE, exit status: 0)
21/03/01 10:00:02 WARN YarnAllocator: Container marked as failed: container_1_01_000006. Exit status: 143.
"""


@pytest.mark.parametrize("rule", [KILLED, TERMINATED, EXIT_CODE], ids=lambda rule: rule.code)
def test_an_end_that_was_asked_for_is_no_failure(rule: object) -> None:
    assert found(rule, run_of_log(HEALTHY, rules=(KILLED, TERMINATED, EXIT_CODE))) == []  # type: ignore[arg-type]


def test_143_while_there_was_work() -> None:
    line = (
        "21/03/01 10:00:00 ERROR YarnScheduler: Lost executor 4 on ip-1: Container marked as failed: "
        "container_1_0001_01_000005 on host: ip-1. Exit status: 143. Diagnostics: Container killed on request.\n"
    )
    (finding,) = found(TERMINATED, run_of_log(line, rules=(TERMINATED,)))
    assert finding.title == "Executor 4 was told to end (SIGTERM, exit code 143)"


def test_a_master_that_is_told_to_end_takes_the_application_with_it() -> None:
    log = (
        "21/03/01 10:00:00 ERROR ApplicationMaster: RECEIVED SIGNAL TERM\n21/03/01 10:00:00 INFO ApplicationMaster: "
        "Final app "
        "status: UNDEFINED, exitCode: 16, (reason: Shutdown hook called before final status was reported.)\n"
    )
    run = run_of_log(log, rules=(TERMINATED, EXIT_CODE))
    (finding,) = found(TERMINATED, run)
    assert (finding.title[:10], finding.consequence) == ("The driver", "ended")
    assert found(EXIT_CODE, run) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (134, "SIGABRT"),
        (139, "native code crashed"),
        (50, "nobody caught"),
        (52, "heap was full"),
        (53, "local directory"),
        (56, "heartbeats"),
        (1, "error of the program"),
        (127, "does not exist"),
        (-101, "disks"),
    ],
)
def test_other_codes_are_explained(code: int, words: str) -> None:
    line = f"22/01/01 00:01:00 ERROR TaskSchedulerImpl: Lost executor 2 on ip-2: Command exited with code {code}\n"
    (finding,) = found(EXIT_CODE, run_of_log(line, rules=(EXIT_CODE,)))
    assert finding.title.startswith(f"Executor 2 ended with exit code {code}: ")
    assert words in finding.title


# Two executors of one log that were killed for different reasons, and the stage that was given up for the second.
TWO = """\
22/01/01 00:00:00 ERROR TaskSchedulerImpl: Lost executor 2 on 10.0.0.5: The executor with id 2 exited with exit code \
137(SIGKILL, possible container OOM).
The API gave the following brief reason: Evicted
The API gave the following message: The node was low on resource: memory.
22/01/01 00:06:00 WARN TaskSetManager: Lost task 1.3 in stage 0.0 (TID 7) (10.0.0.6 executor 3): ExecutorLostFailure \
(executor 3 exited caused by one of the running tasks) Reason:
The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).
\t termination reason: OOMKilled
22/01/01 00:06:01 ERROR TaskSetManager: Task 1 in stage 0.0 failed 4 times; aborting job
"""


def test_each_death_has_its_own_reason_and_its_own_end() -> None:
    first, second = found(KILLED, run_of_log(TWO, rules=(KILLED,)))
    assert (first.title, first.consequence) == (
        "Executor 2 was killed by the kubelet, which evicted its pod",
        "lost",
    )
    assert (second.title, second.consequence) == ("Executor 3 was OOMKilled at its memory limit", "ended")


def test_what_yarn_ends_for_its_limit_is_told_once() -> None:
    log = (
        f"{LIMIT}21/03/01 10:00:00 ERROR CoarseGrainedExecutorBackend: RECEIVED SIGNAL TERM\n"
        "21/03/01 10:00:01 WARN YarnAllocator: Container marked as failed: container_1_1_1_000004 on host: host-2. "
        "Exit status: 143. Diagnostics: Container killed on request. Exit code is 143\n"
    )
    assert found(TERMINATED, run_of_log(log, rules=(TERMINATED,))) == []


def test_who_wrote_a_line_is_not_whom_it_is_about() -> None:
    (finding,) = found(KILLED, run_of_log(STANDALONE, rules=(KILLED,)))
    assert finding.title.startswith("Executor 2 was killed by SIGKILL")
    nameless = STANDALONE.replace("Executor app-20261201041342-0000/2 finished", "It finished").splitlines(
        keepends=True
    )
    (finding,) = found(KILLED, run_of_log("".join(nameless[:2]), rules=(KILLED,)))
    assert finding.title.startswith("A container was killed")
