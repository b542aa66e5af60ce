"""A small application with the rarer events: caches, exclusions, barriers, tags, streaming.

usage: eventful_job.py LOG_DIRECTORY [KEY=VALUE…]    (KEY=VALUE: further Spark settings)
"""

import sys
from pathlib import Path

from pyspark import BarrierTaskContext, SparkContext, StorageLevel, TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def kept(spark: SparkSession, context: SparkContext) -> None:
    """RDDs in memory, on disk, and let go; a cached table."""
    memory = context.parallelize(range(2_000), 4).setName("numbers").persist(StorageLevel.MEMORY_AND_DISK)
    memory.count()
    disk = context.parallelize(range(1_000), 2).persist(StorageLevel.DISK_ONLY)
    disk.count()
    memory.unpersist()
    spark.range(0, 10_000, 1, 2).cache().count()


def named(spark: SparkSession, context: SparkContext) -> None:
    """A group, tags and a pool."""
    context.setJobGroup("a group", "a described job")
    context.addJobTag("tag-a")
    context.setLocalProperty("spark.scheduler.pool", "patient")
    context.parallelize(range(10), 2).count()
    context.setLocalProperty("spark.scheduler.pool", None)


def barrier(spark: SparkSession, context: SparkContext) -> None:
    def together(rows):
        BarrierTaskContext.get().barrier()
        yield sum(rows)

    context.parallelize(range(10), 2).barrier().mapPartitions(together).collect()


def excluded(spark: SparkSession, context: SparkContext) -> None:
    """A task fails once: its executor gets no more of the stage."""

    def fail_first(x: int) -> int:
        task = TaskContext.get()
        if task.attemptNumber() == 0 and task.partitionId() == 1:
            raise ValueError("the first attempt")
        return x

    context.parallelize(range(10), 3).map(fail_first).count()


def streaming(spark: SparkSession, context: SparkContext) -> None:
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 20).option("numPartitions", 2).load()
    counts = stream.withWatermark("timestamp", "10 seconds").groupBy(F.window("timestamp", "1 second")).count()
    query = counts.writeStream.format("memory").queryName("counts").outputMode("complete")
    running = query.trigger(processingTime="100 milliseconds").start()
    while len(running.recentProgress) < 2:
        running.awaitTermination(0.5)
    running.stop()


def main(log_directory: str, settings: list[str]) -> None:
    Path(log_directory).mkdir(parents=True, exist_ok=True)
    builder = SparkSession.builder.appName("eventful-job").master("local-cluster[2,1,512]")
    defaults = {
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{log_directory}",
        "spark.eventLog.logBlockUpdates.enabled": "true",
        "spark.eventLog.logStageExecutorMetrics": "true",
        "spark.executor.processTreeMetrics.enabled": "true",
        "spark.excludeOnFailure.enabled": "true",
        "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "1",
        "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": "1",
        "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "9",
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in {**defaults, **dict(pair.split("=", 1) for pair in settings)}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for part in (kept, named, barrier, excluded, streaming):
        part(spark, spark.sparkContext)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
