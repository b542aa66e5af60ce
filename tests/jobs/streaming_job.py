"""A structured stream for some minutes, its query stopped and started again from its checkpoint every so often.

usage: streaming_job.py MINUTES RESTART_SECONDS CHECKPOINT
"""

import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    minutes, restart_seconds, checkpoint = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    spark = SparkSession.builder.appName("streaming job").getOrCreate()
    end = time.monotonic() + 60 * minutes
    restarts = 0
    while time.monotonic() < end:
        rows = spark.readStream.format("rate").option("rowsPerSecond", 2000).load()
        counts = rows.withWatermark("timestamp", "20 seconds").groupBy(F.window("timestamp", "5 seconds")).count()
        writer = counts.writeStream.format("noop").outputMode("update").option("checkpointLocation", checkpoint)
        query = writer.trigger(processingTime="2 seconds").start()
        query.awaitTermination(min(restart_seconds, max(1.0, end - time.monotonic())))
        query.stop()
        restarts += 1
    print("restarts", restarts)
    spark.stop()


main()
