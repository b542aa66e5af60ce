"""Thousands of tasks that each do a few milliseconds of work: starting them costs more than the work.

The healthy twin does the same work in two tasks per slot. The work of a row is to wait, so that the speed of the
machine hardly matters.
"""

from pyspark.sql import SparkSession
from tests.jobs.faults import scaled
from tests.jobs.faults._waiting import waited

CODE = "A7"
MASTER = "local-cluster[2,4,1024]"
CONF: dict[str, str] = {}
HEALTHY_CONF: dict[str, str] = {}

_SLOTS = 8


def work(spark: SparkSession, healthy: bool) -> None:
    rows = scaled(8_000)
    spark.sparkContext.setJobDescription("check the orders")
    orders = spark.range(0, rows, 1, 2 * _SLOTS if healthy else rows)
    orders.where(waited(8)).selectExpr("count(id)").collect()
