"""A Spark application whose queries have shapes that the rules about plans look for, each small.

Runs in one JVM (local[2]) in less than a minute of two quiet cores.
"""

import sys
import tempfile

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

ROWS = 1_200_000


def shuffled_join(spark: SparkSession) -> None:
    """A join without adaptive execution: Spark sends the side to all executors that it takes for the smaller one."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    large = spark.range(0, ROWS, 1, 4).withColumn("text", F.repeat(F.lit("x"), 80))
    small = spark.sparkContext.parallelize([(i, i) for i in range(100)], 1).toDF(["id", "kind"])
    large.join(small, "id").groupBy("kind").agg(F.max("text")).collect()
    spark.conf.unset("spark.sql.adaptive.enabled")


def window_without_partition(spark: SparkSession) -> None:
    numbered = spark.range(0, ROWS, 1, 4).withColumn("n", F.row_number().over(Window.orderBy(F.col("id").desc())))
    numbered.agg(F.max("n")).collect()


def distinct_counts(spark: SparkSession) -> None:
    rows = spark.range(0, ROWS, 1, 4).select(*(F.xxhash64("id", F.lit(k)).alias(f"c{k}") for k in range(3)))
    rows.agg(*(F.count_distinct(f"c{k}") for k in range(3))).collect()


def exploded_for_nothing(spark: SparkSession) -> None:
    lists = spark.range(0, ROWS // 10, 1, 4).select(F.sequence(F.col("id"), F.col("id") + 9).alias("list"))
    exploded = lists.select(F.explode("list").alias("x"))
    exploded.where(F.pmod(F.hash("x"), F.lit(50)) == 7).agg(F.max("x")).collect()


def long_filter(spark: SparkSession) -> None:
    condition = F.lit(False)
    for k in range(80):
        condition = condition | (F.col("id") % 1009 == F.lit(k * 7)) & (F.col("id") > k)
    spark.range(0, ROWS, 1, 4).where(condition).agg(F.count("*")).collect()


def same_part_twice(spark: SparkSession, folder: str) -> None:
    spark.range(0, ROWS // 4, 1, 4).select("id", F.repeat(F.lit("y"), 60).alias("text")).write.json(f"{folder}/rows")
    rows = spark.read.schema("id long, text string").json(f"{folder}/rows").where("id % 3 = 1")

    def by(key: str) -> DataFrame:
        return rows.groupBy(F.expr(key).alias("key")).agg(F.count("*"))

    by("id % 10").union(by("length(text)")).collect()


def without_generated_code(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.range(0, ROWS, 1, 4).agg(F.sum("id")).collect()
    spark.conf.unset("spark.sql.codegen.wholeStage")


def large_plan(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    rows = spark.range(1)
    for k in range(260):
        rows = rows.union(spark.range(k, k + 1, 1, 1))
    rows.limit(3).collect()
    spark.conf.unset("spark.sql.adaptive.enabled")


def main(event_log_dir: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("findings: shapes of plans")
        .config("spark.ui.enabled", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", event_log_dir)
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    steps = (shuffled_join, window_without_partition, distinct_counts, exploded_for_nothing, long_filter)
    try:
        for step in (*steps, without_generated_code, large_plan):
            spark.sparkContext.setJobDescription(step.__name__.replace("_", " "))
            step(spark)
        with tempfile.TemporaryDirectory() as folder:
            spark.sparkContext.setJobDescription("same part twice")
            same_part_twice(spark, folder)
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
