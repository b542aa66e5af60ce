"""A Spark application with a skewed join that spills, and a slow Python function.

Runs on executors of one core and 1 GiB (local-cluster[2,1,1024]) in about half a minute of two quiet cores.
"""

import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType


def skewed_join(spark: SparkSession) -> None:
    """Nine tenths of the left side have one key: one task of the join gets nearly all rows and sorts them on disk."""
    rows = 3_000_000  # enough to spill in an executor of 1 GiB
    left = spark.range(0, rows, 1, 4).select(
        F.when(F.col("id") % 10 == 0, F.col("id") % 1000).otherwise(F.lit(7)).alias("key"),
        F.sha2(F.col("id").cast("string"), 256).alias("payload"),
    )
    right = spark.range(0, 1000, 1, 2).select(F.col("id").alias("key"), F.lit("airport").alias("name"))
    joined = left.join(right, "key").select(F.sum(F.length(F.sha2(F.concat("payload", "name"), 512))))
    joined.collect()


def slow_function(spark: SparkSession) -> None:
    """A row-at-a-time Python function that takes a millisecond a row."""

    def weigh(value: int) -> int:
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        return value * 2

    spark.range(0, 6000, 1, 4).select(F.sum(F.udf(weigh, LongType())("id"))).collect()


def main(event_log_dir: str) -> None:
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("findings: skew, spill, python")
        .config("spark.ui.enabled", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", event_log_dir)
        .config("spark.executor.memory", "1g")
        .config("spark.memory.fraction", "0.2")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.autoBroadcastJoinThreshold", "-1")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .getOrCreate()
    )
    try:
        for name, step in (("join", skewed_join), ("function", slow_function)):
            spark.sparkContext.setJobDescription(f"{name} step")
            step(spark)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
