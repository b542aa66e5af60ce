"""A table is cached and counted to warm the cache, but the report starts from the rows before it and never reads it.

The healthy twin makes the report alone.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "C10"
CONF = {"spark.sql.shuffle.partitions": "4"}


def signed(orders: DataFrame) -> DataFrame:
    return orders.withColumn("mark", F.sha2(F.repeat(F.col("id").cast("string"), 1_500), 512))


def work(spark: SparkSession, healthy: bool) -> None:
    orders = spark.range(0, scaled(2_000_000), 1, 8).withColumn("region", F.col("id") % 20)
    if not healthy:
        spark.sparkContext.setJobDescription("warm the cache")
        signed(orders).cache().count()
    spark.sparkContext.setJobDescription("marks by region")
    recent = signed(orders.where(F.col("region") < 10))
    recent.groupBy("region").agg(F.max("mark"), F.count("*")).collect()
