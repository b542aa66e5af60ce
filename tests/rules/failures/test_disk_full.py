from __future__ import annotations

import pytest

from emberscope.rules.failures.disk_full import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# HADOOP-style frames and message as Spark 3 prints them (SPARK-29113, SPARK-33841 and the tracker of apache/spark).
SHUFFLE = """\
21/03/02 10:11:12 ERROR Executor: Exception in task 3.0 in stage 7.0 (TID 99)
java.io.FileNotFoundException: /mnt1/yarn/usercache/hadoop/appcache/\
application_1/blockmgr-1/0c/shuffle_2_3_0.data (No space left on device)
\tat java.io.FileOutputStream.open0(Native Method)
\tat org.apache.spark.storage.DiskBlockObjectWriter.initialize(DiskBlockObjectWriter.scala:131)
21/03/02 10:11:13 ERROR TaskSetManager: Task 3 in stage 7.0 failed 4 times; aborting job
21/03/02 10:11:14 WARN TaskSetManager: Lost task 3.1 in stage 7.0 (TID 101, ip-1, executor 2): \
java.io.IOException: No space left on device"""
# Utils.getOrCreateLocalRootDirs of Spark.
NO_FOLDER = (
    "20/01/01 00:00:00 ERROR DiskBlockManager: Failed to create local dir in /data/disk2. Ignoring this directory.\n"
    "java.io.IOException: Failed to create a temp directory (under /data/disk2) after 10 attempts!"
)
# EMR's troubleshooting guide, 5.2.4.1.
S3_BUFFER = (
    "ERROR SparkContext: Error initializing SparkContext.\norg.apache.hadoop.util.DiskChecker$DiskErrorException: "
    "Could not find any valid local directory for s3ablock-0001-"
)


def test_names_the_disk_and_who_wrote() -> None:
    (finding,) = found(RULE, run_of_log(SHUFFLE))
    assert finding.title == "A local disk was full on /mnt1: Executor 2 had no room for shuffle files and spill"
    assert finding.where.stage == 7
    assert "spark.local.dir" in finding.summary
    assert {evidence.line for evidence in finding.evidence} >= {2, 6}


def test_a_folder_that_cannot_be_made() -> None:
    (finding,) = found(RULE, run_of_log(NO_FOLDER))
    assert "on /data/disk2" in finding.title
    assert finding.consequence == "ended"


def test_the_buffer_of_uploads_is_told_from_shuffle() -> None:
    (finding,) = found(RULE, run_of_log(S3_BUFFER))
    assert "uploads to S3" in finding.title
    assert "fs.s3a.buffer.dir" in finding.advice[0].text


@pytest.mark.parametrize(
    "words",
    [
        "The job dies with no space left on device, df shows free space on /mnt2",
        "why is the local disk full after a join",
    ],
)
def test_in_plain_words(words: str) -> None:
    (finding,) = found(RULE, run_of_words(words))
    assert "SPARK_LOCAL_DIRS" in finding.summary
    assert ("/mnt2 has room" in finding.advice[0].text) == ("/mnt2" in words)


def test_attempts_that_ran_again_did_not_end_the_job() -> None:
    lost = SHUFFLE.splitlines()[-1]
    (finding,) = found(RULE, run_of_log(lost))
    assert finding.consequence == "lost"


# Lines of healthy Spark 3.5 and of a node manager.
HEALTHY = """\
24/01/01 00:00:00 INFO DiskBlockManager: Created local directory at /tmp/blockmgr-3f2a
24/01/01 00:00:00 INFO MemoryStore: Block broadcast_0 stored as values in memory (estimated \
size 300.0 KiB, free 400.0 MiB)
24/01/01 00:00:01 INFO DirectoryCollection: used space 80.1 GB of 100.0 GB on /mnt/yarn
24/01/01 00:00:02 INFO ExternalSorter: Thread 61 spilling in-memory map of 5.0 MiB to disk (1 time so far)"""


def test_silent_on_healthy_lines() -> None:
    assert found(RULE, run_of_log(HEALTHY)) == []
