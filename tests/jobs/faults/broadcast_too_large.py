"""Joins that send a large table to every executor, day after day, because a hint says so.

The healthy twin joins the same tables without the hint: both sides are shuffled, and the driver holds neither.
"""

from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE: Final = "C8"
MASTER: Final = "local-cluster[2,1,1536]"
CONF: Final = {
    "spark.driver.memory": "2g",
    "spark.executor.memory": "1536m",
    "spark.sql.shuffle.partitions": "8",
}
HEALTHY_CONF: Final[dict[str, str]] = {}


def work(spark: SparkSession, healthy: bool) -> None:
    """One join a day, whose larger side has few rows for each of many users."""
    users = 1_200_000
    for day in range(scaled(4)):
        spark.sparkContext.setJobDescription(f"day {day}")
        profiles = spark.range(0, users, 1, 4).select(
            F.col("id").alias("user"), F.sha2((F.col("id") + day).cast("string"), 512).alias("profile")
        )
        clicks = spark.range(0, scaled(4_000_000), 1, 8).select(
            (F.col("id") * 7 % users).alias("user"), F.sha2((F.col("id") * 10 + day).cast("string"), 256).alias("page")
        )
        joined = clicks.join(profiles if healthy else F.broadcast(profiles), "user")
        joined.select(F.sum(F.length(F.sha2(F.concat("profile", "page"), 512)))).collect()
