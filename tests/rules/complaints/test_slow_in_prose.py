"""Slow jobs and tools told in prose: words of public issues and pages, with their addresses."""

from __future__ import annotations

import pytest

from emberscope.rules.failure_catalog import FAILURE_RULES
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

TOLD = tuple(rule for rule in FAILURE_RULES if rule.code[0] == "W" and int(rule.code[1:]) > 10)
QUESTIONS = {
    # github.com/opensearch-project/opensearch-spark/issues/302
    "DRA enabled, maxExecutors = 30: even if an executor node remains idle for longer than the executorIdleTimeout "
    "duration, it cannot be released": "W13",
    # github.com/apache/spark/pull/22015
    "the executors acquired using dynamic allocation are not released when the cached RDD is unpersisted": "W13",
    # github.com/apache/spark/pull/11328
    "BroadcastNestedLoopJoin is implemented for worst case, it's too slow, very easy to hang forever": "W14",
    # github.com/apache/hudi/issues/1728
    "Processing time gradually increases while using spark structured streaming": "W15",
    # github.com/delta-io/delta/issues/859
    "Streaming to Delta Sink, Sharp Increase in Batch Time after ~36h": "W15",
    # github.com/apache/incubator-spot/pull/20
    "Job count at InvalidDataHandler.scala taking too long": "W17",
    # github.com/broadinstitute/gatk/issues/1657
    "GC times can go as 20% of execution time in stage2": "W12",
    # github.com/async-profiler/async-profiler/issues/893
    "I'm curious about the significance of the large number of 'no_java_frame' entries in the flame graph": "W22",
    # github.com/banzaicloud/spark-metrics/issues/51
    "Not seeing executor metrics (only driver), Prometheus sink, Spark 2.3.0": "W21",
    # github.com/exoshuffle/raysort/issues/39
    "the Spark history server does not seem to display information about incomplete applications": "W20",
    # stackoverflow.com/questions/37871194
    "How to tune spark executor number, cores and executor memory?": "W19",
    # stackoverflow.com/questions/33248108
    "Why does YARN show only 1 vcore used for each container although I set executor-cores 5?": "W19",
    # www.data-dynamics.io/en/blog/pyspark-pandas-udf
    "When you profile a PySpark job, it's common to find a single UDF eating 80% of the total runtime": "W11",
    # www.abstractalgorithms.dev/spark-shuffles-groupby-performance
    "Shuffle write: 380 GB. Shuffle spill to disk: 140 GB. The same code ran for four hours": "W18",
}


@pytest.mark.parametrize(("question", "code"), QUESTIONS.items())
def test_a_complaint_in_prose_is_answered_by_its_rule_and_says_what_would_confirm_it(question: str, code: str) -> None:
    run = run_of_words(question)
    told = {rule.code for rule in TOLD if found(rule, run)}
    assert told == {code}
    (rule,) = (rule for rule in TOLD if rule.code == code)
    (finding,) = found(rule, run)
    assert finding.consequence == "risk"
    assert any(one.kind == "check" for one in finding.advice)


# Spark 3.5's own lines of healthy runs.
HEALTHY = """\
24/05/01 10:00:00 INFO CodeGenerator: Code generated in 12.5 ms
24/05/01 10:00:01 INFO DAGScheduler: Got job 0 (count at Main.scala:12) with 4 output partitions
24/05/01 10:00:02 INFO MemoryStore: Block broadcast_0 stored as values in memory (estimated size 2.9 KB, free 9.1 MB)
24/05/01 10:00:03 INFO UnsafeExternalSorter: Thread 54 spilling sort data of 64.0 MB to disk (0 time so far)
"""


@pytest.mark.parametrize("rule", TOLD, ids=lambda rule: rule.name)
def test_healthy_lines_are_no_complaint(rule: object) -> None:
    assert not [one for one in TOLD if one is rule and found(one, run_of_log(HEALTHY))]
