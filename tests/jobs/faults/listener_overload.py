"""A queue of events that is too short for its application: the event log lacks what did not fit.

The healthy twin has the queue that Spark has by default. Jobs of tasks that start all at once; they sleep, so that
tasks beyond the machine's cores lose nothing.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "H6"
MASTER = "local-cluster[2,16,1024]"
CONF = {"spark.scheduler.listenerbus.eventqueue.capacity": "12", "spark.sql.shuffle.partitions": "32"}
HEALTHY_CONF = {"spark.scheduler.listenerbus.eventqueue.capacity": "10000"}


def work(spark: SparkSession, healthy: bool) -> None:
    for day in range(scaled(8)):
        spark.sparkContext.setJobDescription(f"day {day}")
        rows = spark.range(0, 32 * 80, 1, 32)
        waited = F.expr("java_method('java.lang.Thread', 'sleep', 20L)")
        rows.select("id", waited.alias("waited")).agg(F.max("id"), F.count("waited")).collect()
