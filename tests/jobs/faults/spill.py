"""A sort whose partitions are too large for the memory of a task, so that it works on disk.

The healthy twin sorts the same rows in more partitions, each of which fits.
"""

from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE: Final = "C3"
CONF: Final = {
    "spark.executor.memory": "640m",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}
HEALTHY_CONF: Final = {"spark.sql.shuffle.partitions": "40"}


def work(spark: SparkSession, healthy: bool) -> None:
    """Sorts 68 MiB in each partition, which take 200 MiB in memory: more than a task may have."""
    for turn in range(scaled(4)):
        spark.sparkContext.setJobDescription(f"day {turn}")
        rows = spark.range(0, 8_000_000, 1, 8).select(
            F.sha2((F.col("id") * 10 + turn).cast("string"), 256).alias("key"), F.col("id").alias("value")
        )
        rows.sort("key").write.format("noop").mode("overwrite").save()
