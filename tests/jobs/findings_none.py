"""A healthy Spark application: even tasks that do nothing but work. No rule should find anything. Under a minute."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(event_log_dir: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("findings: none")
        .config("spark.ui.enabled", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", event_log_dir)
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    try:
        rows = spark.range(0, 2_500_000, 1, 8).select((F.col("id") % 1000).alias("key"), F.col("id"))
        for _ in range(8):
            hashed = rows.select("key", F.crc32(F.sha2(F.sha2(F.col("id").cast("string"), 512), 512)).alias("hash"))
            sums = hashed.groupBy("key").agg(F.sum("hash").alias("hash"))
            sums.agg(F.sum("hash")).collect()
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
