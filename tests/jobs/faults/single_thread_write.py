"""A result that is written as one file: `coalesce(1)` draws the whole computation before the write into one task.

The healthy twin writes the same rows from all tasks. Rows are enriched by a lookup that takes its time however fast the
machine is (it sleeps), so that tasks beyond the machine's cores lose nothing.
"""

import tempfile

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "E10"
MASTER = "local-cluster[2,4,1024]"
CONF: dict[str, str] = {}
HEALTHY_CONF: dict[str, str] = {}

_SLOTS = 8


def enriched(spark: SparkSession, rows: int, tasks: int) -> DataFrame:
    """Rows with what a slow service said about each: a tenth of a second a row."""
    return spark.range(0, rows, 1, tasks).select(
        "id", F.expr("java_method('java.lang.Thread', 'sleep', 100L)").alias("answer")
    )


def work(spark: SparkSession, healthy: bool) -> None:
    spark.sparkContext.setJobDescription("check the orders")
    enriched(spark, scaled(800), 4 * _SLOTS).where("answer is not null").count()
    spark.sparkContext.setJobDescription("write the orders")
    orders = enriched(spark, scaled(200), 2 * _SLOTS)
    with tempfile.TemporaryDirectory() as directory:
        (orders if healthy else orders.coalesce(1)).write.parquet(f"{directory}/orders")
