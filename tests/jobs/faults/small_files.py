"""A table that is partitioned by day is written by tasks that each hold rows of every day: one small file for each pair
of task and day.

The healthy twin brings the rows of a day together first, so that each day is one file.
"""

import tempfile

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "E2"
MASTER = "local-cluster[2,2,1024]"
CONF: dict[str, str] = {}
HEALTHY_CONF: dict[str, str] = {}

_DAYS = 48


def work(spark: SparkSession, healthy: bool) -> None:
    tasks = scaled(64)
    events = spark.range(0, tasks * _DAYS * 200, 1, tasks).select(
        "id",
        (F.col("id") % _DAYS).alias("day"),
        F.sha2(F.col("id").cast("string"), 256).alias("payload"),
    )
    spark.sparkContext.setJobDescription("write the events")
    with tempfile.TemporaryDirectory() as directory:
        (events.repartition(8, "day") if healthy else events).write.partitionBy("day").parquet(f"{directory}/events")
