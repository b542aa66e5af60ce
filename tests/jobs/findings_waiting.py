"""A Spark application whose cores wait for several reasons, one after another: for executors that come late, for a slot
near to cached data, for a single task, for tasks whose results are large, and for outputs that are written one by one.

Wants pyspark with a local cluster of four executors; tasks only wait, so that two cores suffice. Takes two minutes.
"""

import sys
import tempfile

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.executor.memory": "512m",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "12s",
    "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout": "12s",
    "spark.locality.wait": "60s",
}


def waited(milliseconds: int) -> Column:
    """True, after so many milliseconds for each row."""
    return F.expr(f"coalesce(java_method('java.lang.Thread', 'sleep', {milliseconds}L), 'null') = 'null'")


def main(event_log_dir: str) -> None:
    builder = SparkSession.builder.master("local-cluster[4,2,512]").appName("findings: waiting")
    for key, value in {**SETTINGS, "spark.eventLog.dir": event_log_dir}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        kept = spark.range(0, 16, 1, 16).cache()
        kept.count()  # while there is one executor
        spark.range(0, 120, 1, 60).where(waited(500)).count()
        kept.where(waited(2_000)).count()
        spark.range(0, 600, 1, 8).coalesce(1).where(waited(20)).count()
        with tempfile.TemporaryDirectory() as directory:
            for name in ("orders", "customers", "items", "stores"):
                spark.range(0, 10, 1, 1).where(waited(500)).write.parquet(f"{directory}/{name}")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
