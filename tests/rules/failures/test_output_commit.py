from __future__ import annotations

import pytest

from emberscope.rules.failures.output_commit import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# Hadoop's FileOutputFormat, Spark's InsertIntoHadoopFsRelationCommand, SparkHadoopMapRedUtil and FileOutputCommitter.
CASES = {
    "The output hdfs://nn/out exists already": (
        'Exception in thread "main" org.apache.hadoop.mapred.FileAlreadyExistsException: Output directory '
        "hdfs://nn/out already exists"
    ),
    "The output file:/tmp/x exists already": "org.apache.spark.sql.AnalysisException: path file:/tmp/x already exists.",
    "The output path exists already": (
        "pyspark.errors.exceptions.captured.AnalysisException: [PATH_ALREADY_EXISTS] Set mode as overwrite"
    ),
    "The temporary files of the output": (
        "java.io.FileNotFoundException: File hdfs://nn/out/_temporary/0/task_1_m_2 does not exist."
    ),
}


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_says_what_was_in_the_way(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_a_denied_second_attempt_is_no_failure() -> None:
    text = (
        "20/01/01 00:00:00 WARN TaskSetManager: Lost task 3.1 in stage 2.0 (TID 9, h, executor 1): TaskCommitDenied "
        "(Driver denied task commit) for job: 2, partition: 3, attemptNumber: 1"
    )
    (finding,) = found(RULE, run_of_log(text))
    assert finding.consequence == "hint"


def test_the_frame_of_another_error_is_silent() -> None:
    text = (
        "24/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID "
        "1)\norg.apache.spark.SparkException: "
        "[TASK_WRITE_FAILED] Task failed while writing rows to s3://b/x.\nCaused by: java.lang.ArithmeticException: "
        "/ by zero"
    )
    assert found(RULE, run_of_log(text)) == []


def test_silent_on_healthy_lines() -> None:
    text = (
        "24/01/01 00:00:00 INFO FileOutputCommitter: Saved output of task 'attempt_1' to "
        "file:/out/_temporary/0/task_1_m_0\n"
        "24/01/01 00:00:00 INFO SparkHadoopMapRedUtil: attempt_1: Committed"
    )
    assert found(RULE, run_of_log(text)) == []
