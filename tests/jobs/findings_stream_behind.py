"""A stream in which rows come faster than two cores work them off: each batch is larger than the one before.

usage: findings_stream_behind.py LOG_DIRECTORY
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

SECONDS = 140


def main(event_log_dir: str) -> None:
    spark = (
        SparkSession.builder.appName("findings: stream behind")
        .master("local-cluster[2,1,1024]")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", Path(event_log_dir).resolve().as_uri())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    # Each row keeps a core busy for 200 ms, so that two cores work off ten in a second.
    rows = (
        spark.readStream.format("rate")
        .option("rowsPerSecond", 14)
        .option("rampUpTime", "90s")
        .option("numPartitions", 2)
        .load()
        .selectExpr("value AS key", "reflect('java.lang.Thread', 'sleep', 200L) AS slept")
        .where("slept IS NOT NULL OR key >= 0")
    )
    spark.range(2).selectExpr("reflect('java.lang.Thread', 'sleep', id) AS slept").groupBy("slept").count().collect()
    query = (
        rows.groupBy("key")
        .count()
        .writeStream.format("noop")
        .outputMode("update")
        .queryName("counts")
        .trigger(processingTime="2 seconds")
        .start()
    )
    time.sleep(SECONDS)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
