from __future__ import annotations

import pytest

from emberscope.rules.failures.streaming_checkpoint import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# Words of OffsetSeqLog, HDFSMetadataLog, StateSchemaCompatibilityChecker, HDFSBackedStateStoreProvider and
# StreamingQueryManager of Spark 2.4 to 4.
CASES = {
    "Two streaming queries": (
        "java.util.ConcurrentModificationException: Multiple streaming queries are concurrently using "
        "s3://b/ck/offsets/3"
    ),
    "The streaming query has other sources": (
        "java.lang.AssertionError: assertion failed: There are [1] sources in the checkpoint offsets and now there are "
        "[2] sources requested by the query. Cannot continue."
    ),
    "The state in the checkpoint has another schema": (
        "Caused by: org.apache.spark.sql.execution.streaming.state.StateSchemaNotCompatible: Provided schema doesn't "
        "match to the schema for existing state! Please note that Spark allow difference of field name"
    ),
    "A file of the streaming state": (
        "java.lang.IllegalStateException: Error reading delta file /ck/state/0/5/7.delta of "
        "HDFSStateStoreProvider[id = "
        "(op=0,part=5)]: /ck/state/0/5/7.delta does not exist"
    ),
    "The log of offsets": "java.lang.IllegalStateException: batch 12 doesn't exist",
    "This sink cannot": (
        "org.apache.spark.sql.AnalysisException: This query does not support recovering from checkpoint location: "
        "/tmp/ck"
    ),
}


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_says_why_the_checkpoint_does_not_fit(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_in_plain_words() -> None:
    (finding,) = found(
        RULE, run_of_words("streaming job cannot restart from its checkpoint after I changed the groupBy")
    )
    assert "checkpoint" in finding.title


def test_silent_on_healthy_lines() -> None:
    text = (
        "24/01/01 00:00:00 INFO CheckpointFileManager: Writing atomically to /ck/commits/3 using temp file "
        "/ck/commits/.3.tmp"
    )
    assert found(RULE, run_of_log(text)) == []
