from __future__ import annotations

import pytest

from emberscope.rules.failures.lost_node import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# YarnAllocator of Spark, with the diagnostics of Hadoop's SchedulerUtils.LOST_CONTAINER.
LOST = (
    "22/05/03 10:11:12 WARN YarnAllocator: Container marked as failed: container_1651_0001_01_000007 on host: "
    "ip-10-0-0-7. Exit status: -100. Diagnostics: Container released on a *lost* node."
)
# RMNodeImpl of Hadoop.
UNHEALTHY = (
    "2022-05-03 10:11:10,100 INFO org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeImpl: Node "
    "ip-10-0-0-7:8041 reported UNHEALTHY with details: 1/1 local-dirs usable space is below configured utilization "
    "percentage/no more usable space [ /mnt/yarn : used space above threshold of 90.0% ]"
)
# AbstractLivelinessMonitor of Hadoop.
EXPIRED = (
    "2022-05-03 10:11:10,100 INFO org.apache.hadoop.yarn.util.AbstractLivelinessMonitor: Expired:ip-10-0-0-9:8041 "
    "Timed out after 600 secs"
)
# Master of Spark standalone.
WORKER = (
    "22/05/03 10:11:12 WARN Master: Removing worker-20220503101010-10.0.0.4-7078 because we got no heartbeat in "
    "60 seconds"
)


def test_exit_status_of_yarn() -> None:
    (finding,) = found(RULE, run_of_log(LOST))
    assert "A node was lost (exit status -100)" in finding.title
    assert "spot" in finding.summary
    assert "memoryOverhead" not in finding.summary
    assert "Exit status: -100" in finding.evidence[0].text
    assert finding.evidence[0].line == 1


def test_a_full_disk_is_told_from_a_silent_node() -> None:
    (disk,) = found(RULE, run_of_log(UNHEALTHY))
    assert disk.title.startswith("Node ip-10-0-0-7:8041 was lost")
    assert "used space above threshold of 90.0%" in disk.summary
    assert "volumes" in disk.advice[0].text
    (silent,) = found(RULE, run_of_log(EXPIRED))
    assert "for 600 s" in silent.summary
    (worker,) = found(RULE, run_of_log(WORKER))
    assert "worker-20220503101010-10.0.0.4-7078" in worker.title
    assert "for 60 s" in worker.summary


def test_many_lines_are_one_finding() -> None:
    assert len(found(RULE, run_of_log("\n".join([UNHEALTHY, LOST, LOST.replace("000007", "000008")])))) == 1


def test_old_versions_are_given_only_what_they_have() -> None:
    (old,) = found(RULE, run_of_log(LOST, spark_version="2.4.8"))
    assert not [advice for advice in old.advice if advice.kind == "set"]
    (middle,) = found(RULE, run_of_log(LOST, spark_version="3.2.1"))
    assert "spark.storage.decommission.shuffleBlocks.enabled" in {advice.setting for advice in middle.advice}


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("Why are nodes lost every hour on our EMR cluster?"))
    assert finding.consequence == "ended"


@pytest.mark.parametrize(
    "line",
    [
        "22/05/03 10:11:12 INFO YarnAllocator: Completed container container_1_1_01_000002 on host: a (state: "
        "COMPLETE, exit status: 0)",
        "2022-05-03 10:11:10,100 INFO RMNodeImpl: Deactivating Node ip-10-0-0-7:8041 as it is now DECOMMISSIONED",
        "22/05/03 10:11:12 INFO TaskSetManager: Finished task 100.0 in stage 1.0 (TID 100) in 100 ms on a (1/100)",
    ],
)
def test_healthy_lines(line: str) -> None:
    assert found(RULE, run_of_log(line)) == []
