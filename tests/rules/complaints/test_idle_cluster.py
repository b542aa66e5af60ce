"""Complaints that one process works while the cluster waits: words of public issues, with their addresses."""

from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.base import Finding, Rule
from emberscope.rules.complaints.few_executors import RULE as FEW_EXECUTORS
from emberscope.rules.complaints.few_partitions import RULE as FEW_PARTITIONS
from emberscope.rules.complaints.jdbc_read import RULE as JDBC_READ
from emberscope.rules.complaints.single_writer import RULE as SINGLE_WRITER
from emberscope.rules.complaints.slow_commit import RULE as SLOW_COMMIT
from emberscope.rules.complaints.small_files import RULE as SMALL_FILES
from emberscope.rules.complaints.to_pandas import RULE as TO_PANDAS
from tests.rules.log_lines import run_of_words
from tests.runs import found

RULES: tuple[Rule[Any], ...] = (
    FEW_PARTITIONS,
    JDBC_READ,
    SINGLE_WRITER,
    SLOW_COMMIT,
    SMALL_FILES,
    TO_PANDAS,
    FEW_EXECUTORS,
)
QUESTIONS = {
    # github.com/apache/hudi/issues/18246
    "job running only 1 task although it has 20 executor cores available": "W3",
    # github.com/YotpoLtd/metorikku/issues/388
    "i read csv input then write parquet with partitionby, it takes a long time": "W3",
    # github.com/memsql/singlestore-spark-connector/issues/65
    "I see only one executor and one task running actively even though I specified 20 cores. spark.read is always "
    "creating DF as single partition: it took 28 hours to read from memsql table and write it to HIVE": "W8",
    # github.com/housepower/ClickHouse-Native-JDBC/issues/298
    "Setting numPartitions does not take effect. There is still only one task to read the table over jdbc": "W8",
    # github.com/ldbc/ldbc_snb_datagen_spark/issues/324
    "there are significant delays due to single-threaded renaming of the output files on the driver": "W7",
    # github.com/snowplow-archive/snowplow-snowflake-loader/issues/67
    "the job takes several hours just to rename all files from `_temporary` directory into S3 root": "W7",
    "all tasks are finished but the write to S3 hangs for an hour": "W7",
    # github.com/apache/hudi/issues/2393
    "there are over 23000 parquet files on s3, all around 480kb: ingest and querying are very slow": "W5",
    # github.com/opentargets/issues/issues/3820
    "there are 200 files with each file being only 20KB, this makes read optimisation not possible": "W5",
    # github.com/astrolabsoftware/fink-broker/issues/752
    "toPandas has a long execution time and an apparent memory leak on the driver node": "W9",
    # github.com/lintool/warcbase/issues/170
    "a simple job is running for 7 hours now. The web app says it's running on 2 executors": "W10",
    # github.com/d2iq-archive/spark-build/issues/74
    "you only see a couple of processes chewing CPU, one has to tell the driver how much parallelism to use": "W3",
    # alike, and none of these
    "Cannot commit: the table was changed by a concurrent commit, and the retry takes long": "",
    "how do I rename a column": "",
    "which JDBC driver do I need for Postgres": "",
    "we have 12 files of 1 GB": "",
}


@pytest.mark.parametrize(("words", "code"), QUESTIONS.items(), ids=range(len(QUESTIONS)))
def test_each_complaint_has_one_answer(words: str, code: str) -> None:
    assert [rule.code for rule in RULES if _answers(rule, words)] == ([code] if code else [])


def test_a_read_without_bounds_is_told_all_four_options() -> None:
    (finding,) = _answers(JDBC_READ, "reading Oracle over JDBC is slow: one task, 16 cores")
    text = " ".join(advice.text for advice in finding.advice)
    assert "partitionColumn" in text
    assert "lowerBound" in text
    assert "(16)" in text


def test_the_committer_is_that_of_the_store() -> None:
    (s3a,) = _answers(SLOW_COMMIT, "renaming of files on s3a://bucket takes hours after the write")
    assert "spark.hadoop.fs.s3a.committer.name" in {advice.setting for advice in s3a.advice}
    (azure,) = _answers(SLOW_COMMIT, "renaming of output files on ADLS takes hours after the write")
    assert "manifest committer" in " ".join(advice.text for advice in azure.advice)


def test_files_that_are_read_are_no_output() -> None:
    (read,) = _answers(SMALL_FILES, "reading 23000 files of 480 KB is slow")
    assert read.title.startswith("The data lie in too many small files")
    (written,) = _answers(SMALL_FILES, "our job writes 12000 files of 1 MB into S3")
    assert written.title.startswith("The output is fragmented")


def _answers(rule: Rule[Any], words: str) -> list[Finding]:
    return found(rule, run_of_words(words))
