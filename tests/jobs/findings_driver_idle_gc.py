"""A Spark application whose heap is nearly full, whose driver works alone and whose slots lie idle.

Local mode with many more slots than it has tasks, and a small heap full of long-lived objects under the serial
collector. Takes about half a minute.
"""

import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def full_heap(spark: SparkSession) -> None:
    """Keeps row objects in the heap, then makes garbage beside them: each full collection walks over all of them."""
    kept = spark.range(0, 1_100_000, 1, 2).select(F.uuid().alias("text"))._jdf.toJavaRDD().cache()
    kept.count()
    rows = spark.range(0, 600_000, 1, 2).select((F.col("id") % 60_000).alias("key"), F.uuid().alias("text"))
    lists = rows.groupBy("key").agg(F.collect_set("text").alias("texts"))
    lists.select(F.sum(F.size("texts"))).collect()


def main(event_log_dir: str) -> None:
    spark = (
        SparkSession.builder.master("local[16]")
        .appName("findings: gc, driver, idle")
        .config("spark.ui.enabled", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", event_log_dir)
        .config("spark.driver.memory", "640m")
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    try:
        full_heap(spark)
        time.sleep(15)  # the driver is busy with something else
        spark.range(0, 1000, 1, 2).count()
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
