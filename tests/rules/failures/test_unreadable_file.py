from __future__ import annotations

import pytest

from emberscope.rules.failures.unreadable_file import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# FileScanRDD and QueryExecutionErrors of Spark 2.4 to 4, parquet-hadoop's ParquetFileReader, HDFS's DFSInputStream.
CASES = {
    "A file …/t/part-0.parquet was gone": (
        "java.io.FileNotFoundException: File does not exist: hdfs://nn/user/hive/warehouse/t/part-0.parquet\nIt is "
        "possible the "
        "underlying files have been updated. You can explicitly invalidate the cache in Spark by running 'REFRESH TABLE"
    ),
    "A file …/t/b.parquet was gone": (
        "org.apache.spark.SparkException: [FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file "
        "s3://bucket/a/b/c/t/b.parquet. File does not exist. It is possible the underlying files have been updated."
    ),
    "A file /data/x.parquet is damaged": (
        "Caused by: java.lang.RuntimeException: file:/data/x.parquet is not a Parquet file. Expected magic number at "
        "tail, but found [49, 50, 51, 10]"
    ),
    "HDFS has no copy left": (
        "org.apache.hadoop.hdfs.BlockMissingException: Could not obtain block: BP-1:blk_2_3 file=/user/x/part-0.orc"
    ),
    "Column price has another type in file": (
        "org.apache.spark.sql.execution.QueryExecutionException: Parquet column cannot be converted in file "
        "s3://bucket/t/part-1.parquet. Column: [price], Expected: double, Found: INT64"
    ),
}


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_says_why_the_file_could_not_be_read(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_both_types_are_named() -> None:
    (finding,) = found(RULE, run_of_log(CASES["Column price has another type in file"]))
    assert finding.title.endswith("than in the table: INT64 in the file, double in the table")


def test_the_frame_is_not_told_beside_its_content() -> None:
    text = (
        "24/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 1)\n[FAILED_READ_FILE.NO_HINT] "
        "Encountered "
        "error while reading file file:/d/a.parquet.\nCaused by: java.lang.RuntimeException: file:/d/a.parquet is "
        "not a Parquet file"
    )
    (finding,) = found(RULE, run_of_log(text))
    assert "is damaged" in finding.title


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("reading fails: some of the parquet files seem corrupt, footer problem"))
    assert "damaged" in finding.title


def test_silent_on_healthy_lines() -> None:
    text = (
        "24/01/01 00:00:00 INFO FileScanRDD: Reading File path: file:///d/part-0.parquet, range: 0-1234, "
        "partition values: [empty row]"
    )
    assert found(RULE, run_of_log(text)) == []
