"""A shuffle into two partitions on a cluster that could run eight tasks at a time: six slots wait for two long tasks.

The healthy twin shuffles the same rows into three partitions per slot. Each group is looked up in a service that takes
its time, so that slots beyond the machine's cores lose nothing.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled
from tests.jobs.faults._waiting import waited

CODE = "A5"
MASTER = "local-cluster[2,4,1024]"
# Bytes do not say what a group costs here: adaptive execution would merge these few kilobytes into one partition.
CONF = {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.coalescePartitions.enabled": "false"}
HEALTHY_CONF = {"spark.sql.shuffle.partitions": "24"}


def work(spark: SparkSession, healthy: bool) -> None:
    del healthy  # the setting alone differs
    customers = scaled(2_400)
    events = spark.range(0, 10 * customers, 1, 24).withColumn("customer", F.col("id") % customers)
    spark.sparkContext.setJobDescription("score the customers")
    seen = events.where(waited(1)).groupBy("customer").count()
    seen.where(waited(18)).selectExpr("sum(count)").collect()
