"""Ends of jobs told in prose: words of public questions, with the address of each."""

from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.base import Rule
from emberscope.rules.failures import (
    access_denied,
    evicted,
    fetch_failed,
    heartbeat,
    missing_class,
    mixed_versions,
    no_resources,
)
from tests.rules.log_lines import run_of_words
from tests.runs import found

TOLD: list[tuple[Rule[Any], str]] = [
    # github.com/kubeflow/spark-operator/issues/2512
    (no_resources.RULE, "all other spark jobs that are submitted after are stuck in pending state: too much memory"),
    # github.com/aalkilani/spark-kafka-cassandra-applying-lambda-architecture/issues/11
    (no_resources.RULE, "Job remains in ACCEPTED state after submitting in spark"),
    # github.com/kubeflow/spark-operator/issues/2790
    (no_resources.RULE, "a server pod fails to run due to quota; executor pods will not start"),
    # github.com/apache/hudi/issues/5262
    (heartbeat.RULE, "Deltastreamer job running on spark-on-k8s stops and executors die when ingesting CDC data"),
    # github.com/apache/hudi/issues/5054
    (fetch_failed.RULE, "The relative remote executor(Id: 26), which maintains the block data to fetch is dead."),
    # github.com/vertica/spark-connector/issues/180
    (access_denied.RULE, "does not have the capability to detect delegation token expiry and refresh it"),
    # github.com/samelamin/spark-bigquery/issues/50
    (missing_class.RULE, "I'm having problems with Guava version on a local spark 2.2"),
    # github.com/Cyb3rWard0g/HELK/issues/468
    (mixed_versions.RULE, "Spark version mismatch between client and spark workers"),
]


@pytest.mark.parametrize(("rule", "text"), TOLD)
def test_told_in_prose(rule: Rule[Any], text: str) -> None:
    assert found(rule, run_of_words(text))


def test_what_an_eviction_does_not_say_of_itself() -> None:
    text = "other jobs on the node are stuck in pending state and never run until the big one is evicted"
    assert not found(evicted.RULE, run_of_words(text))
    assert not found(heartbeat.RULE, run_of_words("how many cores should an executor have?"))
    assert not found(missing_class.RULE, run_of_words("which version of Guava does Spark bring?"))
    assert not found(no_resources.RULE, run_of_words("how do I set a quota for the pods of a namespace?"))
