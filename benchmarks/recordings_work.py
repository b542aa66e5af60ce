"""A Spark job of every sort of work, for recordings of its executors: `recordings_work.py REPOSITORY MEGABYTES`.

Joins, aggregation, sorting, spilling, caching, Python functions and writing, over and over, until the files under
REPOSITORY (where the executors' flight recorders write their chunks) have so many megabytes; 0 ends it after one round.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

ROWS = 300_000
MOST_ROUNDS = 400


def facts(spark: SparkSession, seed: int) -> DataFrame:
    return spark.range(0, ROWS, 1, 6).select(
        "id",
        (F.rand(seed) * 997).cast("int").alias("key"),
        (F.randn(seed + 1) * 100).alias("value"),
        F.concat(F.hex(F.xxhash64("id")), F.hex(F.xxhash64(F.col("id") + seed))).alias("text"),
    )


def by_row(value: float) -> float:
    return sum((value * i) % 7 for i in range(20))


def tables_of_work(spark: SparkSession, seed: int) -> list[DataFrame]:
    left, right = facts(spark, seed), facts(spark, seed + 7)
    cached = left.groupBy("key").agg(F.collect_list("text").alias("texts"), F.avg("value").alias("mean")).cache()
    return [
        left.join(right.limit(20_000).hint("shuffle_merge"), "key").groupBy("key").count(),
        cached,
        cached.join(F.broadcast(right.limit(1000)), "key").select(F.explode("texts").alias("text"), "value"),
        left.sort("text").select(F.substring("text", 2, 9).alias("piece"), "value"),
        left.limit(30_000).select(F.udf(by_row, DoubleType())("value").alias("value")),
        left.select(F.regexp_replace("text", "[0-9]+", "-").alias("text"), "key").distinct(),
    ]


def megabytes(repository: str) -> float:
    """Of the largest of the directories in the repository: one for each process."""
    sizes = [
        sum(file.stat().st_size for file in process.rglob("*") if file.is_file())
        for process in Path(repository).iterdir()
    ]
    return max(sizes, default=0) / 1e6


def work(spark: SparkSession, repository: str, wanted: float) -> None:
    numbers = spark.sparkContext.parallelize(range(200_000), 6)
    with tempfile.TemporaryDirectory() as directory:
        for round_ in range(MOST_ROUNDS):
            for number, table in enumerate(tables_of_work(spark, round_)):
                table.write.mode("overwrite").parquet(f"{directory}/{number}")
                if wanted and megabytes(repository) >= wanted:
                    return
            numbers.map(lambda n: (n % 100, n * n)).reduceByKey(lambda a, b: a + b).sortByKey().collect()
            spark.catalog.clearCache()
            if not wanted:
                return


def main(repository: str, wanted: float) -> None:
    spark = SparkSession.builder.appName("all sorts of work").getOrCreate()
    work(spark, repository, wanted)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
