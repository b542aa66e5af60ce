"""Queries whose stages and tasks run again: an executor dies under a shuffle, tasks fail, a cached plan runs twice.

usage: retried_job.py LOG_DIRECTORY [KEY=VALUE…]    (KEY=VALUE: further Spark settings)
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def lost_executor(spark: SparkSession, scratch: str) -> None:
    """The executor that reads a shuffle first is killed once: the stage before it runs again for what is lost."""
    flag = str(Path(scratch, "killed"))

    @F.udf("long")
    def kill_once(x: int) -> int:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            time.sleep(0.002)
            return x
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        time.sleep(1.5)
        os.kill(int(daemon.split()[3]), signal.SIGKILL)
        return x

    totals = spark.range(0, 60_000, 1, 6).groupBy((F.col("id") % 997).alias("k")).agg(F.sum("id").alias("s"))
    totals.select(kill_once("s").alias("t")).agg(F.sum("t")).collect()


def failing_tasks(spark: SparkSession, scratch: str) -> None:
    """Two tasks fail after some rows and succeed the second time."""

    @F.udf("long")
    def flaky(x: int) -> int:
        context = TaskContext.get()
        if context.attemptNumber() == 0 and context.partitionId() in (1, 3) and x % 4999 == 0 and x > 5000:
            raise ValueError("again")
        return x

    spark.range(0, 60_000, 1, 6).select((flaky("id") % 5).alias("m")).groupBy("m").count().collect()


def shared_plans(spark: SparkSession, scratch: str) -> None:
    """A cached plan runs for two executions, and one plan runs twice."""
    cached = spark.range(0, 60_000, 1, 6).select((F.col("id") * 2).alias("d")).cache()
    cached.limit(3).collect()
    cached.count()
    cached.count()
    counts = spark.range(0, 60_000, 1, 6).groupBy((F.col("id") % 7).alias("k")).count()
    counts.collect()
    counts.collect()


def main(log_directory: str, settings: list[str]) -> None:
    Path(log_directory).mkdir(parents=True, exist_ok=True)
    builder = SparkSession.builder.appName("retried-job").master("local-cluster[2,1,512]")
    defaults = {
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{log_directory}",
        "spark.sql.shuffle.partitions": "6",
        "spark.sql.adaptive.enabled": "false",
    }
    for key, value in {**defaults, **dict(pair.split("=", 1) for pair in settings)}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    with tempfile.TemporaryDirectory() as scratch:
        for part in (lost_executor, failing_tasks, shared_plans):
            part(spark, scratch)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
