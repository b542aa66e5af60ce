"""The same files are read, parsed and filtered anew for each of six reports.

The healthy twin keeps what all reports start from.
"""

import tempfile

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "C11"
CONF = {"spark.sql.shuffle.partitions": "4"}
FIELDS = "region string, product string, day string, amount double, note string"


def written(spark: SparkSession, folder: str) -> str:
    rows = spark.range(0, scaled(600_000), 1, 8).select(
        (F.col("id") % 20).cast("string").alias("region"),
        (F.col("id") % 300).cast("string").alias("product"),
        (F.col("id") % 365).cast("string").alias("day"),
        (F.col("id") % 997).cast("double").alias("amount"),
        F.repeat(F.col("id").cast("string"), 40).alias("note"),
    )
    rows.write.json(f"{folder}/orders")
    return f"{folder}/orders"


def work(spark: SparkSession, healthy: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(spark, folder)
        digest = F.sha2(F.repeat("note", 20), 512)
        orders = spark.read.schema(FIELDS).json(path).where(digest < "8")
        if healthy:
            orders = orders.select("region", "product", "day", "amount", F.length("note").alias("note")).cache()
        else:
            orders = orders.withColumn("note", F.length("note"))
        for keys in (["region"], ["product"], ["day"], ["region", "day"], ["product", "region"], ["note"]):
            spark.sparkContext.setJobDescription(f"orders by {' and '.join(keys)}")
            orders.groupBy(*keys).agg(F.sum("amount"), F.max("note")).collect()
