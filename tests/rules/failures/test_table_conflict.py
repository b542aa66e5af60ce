from __future__ import annotations

import pytest

from emberscope.rules.failures.table_conflict import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# DeltaErrors of delta-io/delta, SnapshotProducer of apache/iceberg, TransactionUtils of apache/hudi, Hive.
CASES = {
    "Concurrent writers: the commit to the Delta table was refused in partition date=2024-01-01": (
        "io.delta.exceptions.ConcurrentAppendException: Files were added to partition [date=2024-01-01] by a "
        "concurrent update. Please try the operation again."
    ),
    "Concurrent writers: the commit to the Iceberg table": (
        "org.apache.iceberg.exceptions.CommitFailedException: Cannot commit: stale table metadata"
    ),
    "Concurrent writers: the commit to the Hudi table": (
        "org.apache.hudi.exception.HoodieWriteConflictException: java.util.ConcurrentModificationException: Cannot "
        "resolve conflicts for overlapping writes"
    ),
    "It is not known whether": "org.apache.iceberg.exceptions.CommitStateUnknownException: Cannot determine whether",
    "A lock of a Hive table": (
        "org.apache.hadoop.hive.ql.lockmgr.LockException: Unable to acquire IMPLICIT, SHARED lock db after 100 attempts"
    ),
}


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_says_whose_commit_was_refused(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_streams_that_share_a_checkpoint() -> None:
    (finding,) = found(RULE, run_of_log("io.delta.exceptions.ConcurrentTransactionException: This error occurs when"))
    assert "checkpoint" in finding.summary + finding.advice[0].text


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("two jobs merge into one iceberg table at the same time and one fails"))
    assert "Iceberg" in finding.title


def test_silent_on_healthy_lines() -> None:
    text = "24/01/01 00:00:00 INFO SnapshotProducer: Committed snapshot 123 (MergeAppend)"
    assert found(RULE, run_of_log(text)) == []
