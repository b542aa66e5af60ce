"""A join by a key that hardly tells rows apart: each visit meets every price of its country instead of its own.

The healthy twin joins by the product as well, so that one row comes out for each visit.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "F2"
CONF = {"spark.sql.shuffle.partitions": "8"}


def work(spark: SparkSession, healthy: bool) -> None:
    visits = spark.range(0, scaled(80_000), 1, 4).select(
        (F.col("id") % 40).alias("country"), (F.col("id") % 60_000).alias("product"), "id"
    )
    prices = spark.range(0, 60_000, 1, 4).select(
        (F.col("id") % 40).alias("country"), F.col("id").alias("product"), (F.col("id") * 7 % 1000).alias("price")
    )
    spark.sparkContext.setJobDescription("price of each visit")
    keys = ["country", "product"] if healthy else ["country"]
    joined = visits.join(prices.drop(*({"product"} - set(keys))), keys)
    price = F.length(F.sha2(F.concat_ws("-", "id", "price"), 224))
    joined.groupBy("country").agg(F.sum(price), F.count("*")).collect()
