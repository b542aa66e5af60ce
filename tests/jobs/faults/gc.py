"""Executors whose heap is nearly full of objects that stay alive, so that they collect garbage all the time.

The healthy twin does the same work in a heap that has room.
"""

from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE: Final = "C1"
MASTER: Final = "local-cluster[2,1,2048]"
CONF: Final = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
    "spark.executor.metrics.pollingInterval": "500ms",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "10000000",
}
# From the start as large as it may become: a heap that grows collects at each step.
HEALTHY_CONF: Final = {
    "spark.executor.memory": "2g",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -Xms2g",
}


def work(spark: SparkSession, healthy: bool) -> None:
    """Gathers many small objects by key: all of a partition stay alive until its last row, beside new garbage."""
    for turn in range(scaled(4)):
        spark.sparkContext.setJobDescription(f"turn {turn}")
        rows = spark.range(0, 4_000_000, 1, 4).select((F.col("id") % 400_000).alias("key"), F.uuid().alias("text"))
        lists = rows.repartition(4, "key").groupBy("key").agg(F.collect_set("text").alias("texts"))
        lists.select(F.sum(F.length(F.sha2(F.array_join(F.array_sort("texts"), ","), 512)))).collect()
