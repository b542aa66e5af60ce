"""A Spark application that reads and writes files, and a table of a database, in every way that rules look at.

Runs in a minute of two quiet cores (local[2]); each step is small, so that rules are asked with small limits.
"""

import sys
import tempfile

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def small_files(spark: SparkSession, folder: str) -> None:
    """120 files of a partitioned table are written and read again."""
    events = spark.range(0, 6_000, 1, 4).select("id", (F.col("id") % 30).alias("day"))
    events.write.partitionBy("day").parquet(f"{folder}/events")
    spark.read.parquet(f"{folder}/events").groupBy("day").count().collect()


def dropped_rows(spark: SparkSession, folder: str) -> None:
    """Nearly all rows of a table are dropped: by a filter that is pushed, and by one that cannot be."""
    spark.range(0, 200_000, 1, 1).select("id", (F.col("id") % 1000).alias("key")).write.parquet(f"{folder}/orders")
    orders = spark.read.parquet(f"{folder}/orders")
    orders.where("key = 7").agg(F.sum("id")).collect()
    orders.where("substring(cast(key as string), 1, 3) = '777'").agg(F.sum("id")).collect()


def guessed_columns(spark: SparkSession, folder: str) -> None:
    """The columns of CSV files are guessed, which reads them once more."""
    spark.range(0, 50_000, 1, 2).select("id", F.rand(7).alias("price")).write.csv(f"{folder}/prices", header=True)
    spark.read.csv(f"{folder}/prices", header=True, inferSchema=True).agg(F.sum("price")).collect()


def database(spark: SparkSession, folder: str) -> None:
    """A table of a database is read through one connection."""
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{folder}/derby.log")  # type: ignore[union-attr]
    url = f"jdbc:derby:{folder}/derby;create=true"
    properties = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    spark.range(0, 2_000, 1, 2).select("id").write.jdbc(url, "customers", properties=properties)
    spark.read.jdbc(url, "customers", properties=properties).agg(F.sum("id")).collect()


def one_task(spark: SparkSession, folder: str) -> None:
    """A file is written by one task, after a shuffle into one partition."""
    spark.range(0, 100_000, 1, 4).repartition(1).write.parquet(f"{folder}/one")


def main(event_log_dir: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("findings: files")
        .config("spark.ui.enabled", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", event_log_dir)
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            for step in (small_files, dropped_rows, guessed_columns, database, one_task):
                spark.sparkContext.setJobDescription(step.__name__.replace("_", " "))
                step(spark, folder)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
