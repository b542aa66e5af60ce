from __future__ import annotations

import pytest

from emberscope.rules.failures.fetch_failed import RULE, side_of
from emberscope.rules.said import said
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# TaskSetManager and the string of Spark's FetchFailed; the causes as Netty and the JDK word them.
HEAD = (
    "22/01/28 17:40:05 WARN TaskSetManager: Lost task 12.0 in stage 7.0 (TID 480, host-2, executor 5): "
    "FetchFailed(BlockManagerId(3, host-1, 7337, None), shuffleId=2, mapIndex=4, mapId=4, reduceId=12, message=\n"
    "org.apache.spark.shuffle.FetchFailedException: "
)
GONE = HEAD + (
    "Failed to connect to host-1/10.0.0.1:7337\n"
    "\tat org.apache.spark.storage.ShuffleBlockFetcherIterator.throwFetchFailedException"
    "(ShuffleBlockFetcherIterator.scala:1)\nCaused by: java.net.ConnectException: Connection refused\n)"
)
# MapOutputTracker of Spark.
MISSING = (
    "22/01/28 17:40:05 WARN TaskSetManager: Lost task 12.0 in stage 7.0 (TID 480, host-2, executor 5): "
    "FetchFailed(null, shuffleId=2, mapIndex=-1, mapId=-1, reduceId=12, message=\n"
    "org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle 2 partition 12\n)"
)
# Netty's PlatformDependent.
DIRECT = HEAD + (
    "failed to allocate 16777216 byte(s) of direct memory (used: 1056964608, max: 1073741824)\n"
    "Caused by: io.netty.util.internal.OutOfDirectMemoryError: failed to allocate 16777216 byte(s) of direct memory "
    "(used: 1056964608, max: 1073741824)\n)"
)
# TransportChannelHandler of Spark.
QUIET = HEAD + (
    "Connection from host-1/10.0.0.1:7337 closed\n"
    "Caused by: java.io.IOException: Connection from host-1/10.0.0.1:7337 closed\n)\n"
    "22/01/28 17:40:04 ERROR TransportChannelHandler: Connection to host-1/10.0.0.1:7337 has been quiet for 120000 ms "
    "while there are outstanding requests. Assuming connection is dead; please adjust spark.network.timeout if this is "
    "wrong."
)
# The EMR guide, 5.2.5.4.
TIMEOUT = (
    "org.apache.spark.shuffle.FetchFailedException: java.util.concurrent.TimeoutException: Timeout waiting for task."
    "\n\tat org.apache.spark.storage.ShuffleBlockFetcherIterator.throwFetchFailedException"
    "(ShuffleBlockFetcherIterator.scala:748)\nCaused by: java.io.IOException: Map_1: Shuffle failed with too many "
    "fetch failures and insufficient progress"
)
# ExternalShuffleBlockResolver of Spark.
UNREGISTERED = HEAD + "java.lang.RuntimeException: Executor is not registered (appId=application_1_2, execId=3)\n)"
# LZ4BlockInputStream of lz4-java.
CORRUPT = HEAD + "Stream is corrupted\nCaused by: java.io.IOException: Stream is corrupted\n)"
# DAGScheduler of Spark.
ABORT = (
    "\n22/01/28 17:41:05 INFO DAGScheduler: Job 3 failed: count at A.scala:1, took 9 s\n"
    "org.apache.spark.SparkException: Job aborted due to stage failure: ShuffleMapStage 7 (map at A.scala:3) has "
    "failed the maximum allowable number of times: 4. Most recent failure reason:\n"
    "org.apache.spark.shuffle.FetchFailedException: Failed to connect to host-1/10.0.0.1:7337"
)
NATIVE = HEAD + (
    "Failure while fetching StreamChunkId{streamId=1, chunkIndex=0}: java.io.IOException: Cannot allocate memory\n"
    "\tat sun.nio.ch.FileDispatcherImpl.read0(Native Method)\n)"
)


@pytest.mark.parametrize(
    ("text", "side", "title"),
    [
        (GONE, "gone", "executor 3 was gone"),
        (MISSING, "gone", "Shuffle output was lost"),
        (DIRECT, "reader", "A fetching executor ran out of Netty direct memory"),
        (TIMEOUT, "busy", "did not serve shuffle blocks in time"),
        (UNREGISTERED, "files", "Shuffle files are gone although executor 3 answers"),
        (CORRUPT, "corrupt", "arrived corrupt"),
        (NATIVE, "native", "native memory"),
    ],
)
def test_which_side_failed(text: str, side: str, title: str) -> None:
    run = run_of_log(text)
    assert {side_of(row) for row in said(run, "fetch-failed")} == {side}
    (finding,) = found(RULE, run)
    assert title in finding.title
    assert finding.evidence[0].line == 1


def test_a_reader_without_direct_memory_does_not_blame_the_server() -> None:
    (finding,) = found(RULE, run_of_log(DIRECT))
    assert "executor 3" not in finding.title
    settings = {advice.setting: advice.value for advice in finding.advice}
    assert settings["spark.reducer.maxSizeInFlight"] == "24m"
    assert "MaxDirectMemorySize (for example 1536m)" in finding.advice[-1].text


def test_retries_of_a_stage_are_one_finding_that_ended_the_job() -> None:
    again = "\n".join(GONE.replace("17:40:05", f"17:40:{second:02}") for second in range(6, 30))
    (finding,) = found(RULE, run_of_log(GONE + "\n" + again + ABORT))
    assert finding.consequence == "ended"
    assert "After 4 attempts in a row" in finding.summary


def test_a_fetch_that_was_tried_again_lost_work_and_ended_nothing() -> None:
    (finding,) = found(RULE, run_of_log(GONE))
    assert finding.consequence == "lost"


def test_a_question_has_no_cause_yet() -> None:
    (finding,) = found(RULE, run_of_words("My job dies with FetchFailedException after two hours, what is it?"))
    assert "do not say why" in finding.title
    assert finding.confidence < 0.6


@pytest.mark.parametrize(
    "line",
    [
        "22/01/28 17:40:05 INFO ShuffleBlockFetcherIterator: Started 3 remote fetches in 12 ms",
        "22/01/28 17:40:05 INFO MapOutputTrackerMasterEndpoint: Asked to send map output locations for shuffle 2 to "
        "10.0.0.1:7337",
        "22/01/28 17:40:05 INFO BlockManagerInfo: Added shuffle_2_piece0 in memory on host-1:7337",
    ],
)
def test_healthy_lines(line: str) -> None:
    assert found(RULE, run_of_log(line)) == []
