from __future__ import annotations

import pytest

from emberscope.rules.failures.container_limit import RULE
from emberscope.tuning.valid import defects
from tests.rules.log_lines import run_of_log
from tests.runs import found

# YarnAllocator of Spark 2.x and TaskSetManager, as many questions quote them.
SPARK_2 = """\
18/05/16 00:53:32 WARN YarnSchedulerBackend$YarnSchedulerEndpoint: Container killed by YARN for exceeding memory \
limits. \
10.4 GB of 10.4 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.
18/05/16 00:53:32 ERROR YarnScheduler: Lost executor 19 on ip-10-0-0-7: Container killed by YARN for exceeding memory \
limits. 10.4 GB of 10.4 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.
"""
# YarnAllocator of Spark 3.
SPARK_3 = (
    "21/03/01 10:00:00 WARN YarnAllocator: Container killed by YARN for exceeding physical memory limits. 6.1 GB of 6 "
    "GB "
    "physical memory used. Consider boosting spark.executor.memoryOverhead.\n"
)
VIRTUAL = (
    "20/03/01 10:00:00 WARN YarnAllocator: Container killed by YARN for exceeding virtual memory limits. 5.2 GB of "
    "5.0 GB "
    "virtual memory used. Consider boosting spark.yarn.executor.memoryOverhead or disabling "
    "yarn.nodemanager.vmem-check-enabled because of YARN-4714.\n"
)
# ContainersMonitorImpl of Hadoop 2 and 3, in the diagnostics of an application (YARN-4714, HADOOP's own tests).
MASTER = (
    "Application application_1447669815913_0002 failed 2 times due to AM Container for "
    "appattempt_1447669815913_0002_000002 exited with  exitCode: -104\n"
    "Diagnostics: Container [pid=47384,containerID=container_1447669815913_0002_02_000001] is running beyond physical "
    "memory limits. Current usage: 17.9 GB of 17.5 GB physical memory used; 18.7 GB of 36.8 GB virtual memory used. "
    "Killing container.\n"
)
HADOOP_3 = (
    "2021-04-01 10:00:00,000 WARN monitor.ContainersMonitorImpl: Container "
    "[pid=1,containerID=container_1_0002_01_000003] "
    "is running 15597568B beyond the 'PHYSICAL' memory limit. Current usage: 4.6 GB of 4.5 GB physical memory used; "
    "6.4 GB "
    "of 22.5 GB virtual memory used. Killing container.\n"
)


def test_names_the_executor_and_computes_the_overhead_under_its_old_name() -> None:
    run = run_of_log(SPARK_2, rules=(RULE,))
    (finding,) = found(RULE, run)
    assert finding.title == "Executor 19's container used 10.4 of 10.4 GB of physical memory and was killed by YARN"
    assert finding.advice[0].setting == "spark.yarn.executor.memoryOverhead"
    assert finding.advice[0].value == "2g"  # 0.1875 of a heap of 9.45 GiB, in steps of 256 MiB
    assert "heap alone" in finding.summary
    assert finding.consequence != "hint"
    assert defects(finding.advice, run) == []


def test_spark_3_has_the_new_name() -> None:
    (finding,) = found(RULE, run_of_log(SPARK_3, rules=(RULE,)))
    assert (finding.advice[0].setting, finding.advice[0].value) == ("spark.executor.memoryOverhead", "1280m")


def test_virtual_memory_is_a_check_to_switch_off() -> None:
    (finding,) = found(RULE, run_of_log(VIRTUAL, rules=(RULE,)))
    assert "virtual" in finding.title
    assert "yarn.nodemanager.vmem-check-enabled=false" in finding.advice[0].text


def test_the_container_of_the_driver_is_told_apart() -> None:
    (finding,) = found(RULE, run_of_log(MASTER, rules=(RULE,)))
    assert finding.title == "The driver's container used 17.9 of 17.5 GB of physical memory and was killed by YARN"
    assert (finding.advice[0].setting, finding.advice[0].value) == ("spark.driver.memoryOverhead", "3g")
    assert finding.consequence == "ended"


def test_the_words_of_hadoop_3() -> None:
    (finding,) = found(RULE, run_of_log(HADOOP_3, rules=(RULE,)))
    assert "4.6 of 4.5 GB" in finding.title
    assert finding.advice[0].setting == "spark.executor.memoryOverhead"


@pytest.mark.parametrize(
    "line",
    [
        # ContainersMonitorImpl and YarnAllocator where all is well.
        "20/03/01 10:00:00 INFO ContainersMonitorImpl: Memory usage of ProcessTree 47384 for container-id "
        "container_1_0002_01_000002: 1.2 GB of 4.5 GB physical memory used; 2.6 GB of 22.5 GB virtual memory used",
        "20/03/01 10:00:00 INFO YarnAllocator: Will request 2 executor container(s), each with 4 core(s) and 5632 MB "
        "memory (including 512 MB of overhead)",
        "20/03/01 10:00:00 INFO YarnAllocator: Completed container container_1_01_000004 (state: COMPLETE, exit "
        "status: 0)",
    ],
)
def test_healthy_lines_say_nothing(line: str) -> None:
    assert found(RULE, run_of_log(line, rules=(RULE,))) == []
