"""A short job with settings that do nothing, are out of use, or are far from the usual.

usage: findings_odd_settings.py EVENT_LOG_DIRECTORY
"""

import sys

from pyspark.sql import SparkSession

ODD = {
    "spark.sql.shufle.partitions": "400",  # a slip
    "spark.executor.memory.overhead": "1g",  # another
    "spark.yarn.executor.memoryOverhead": "512",  # read no more beside its new name
    "spark.executor.memoryOverhead": "6g",  # six times the heap
    "spark.speculation.quantile": "0.8",  # of something that is off
    "spark.blacklist.killBlacklistedExecutors": "true",  # out of use
    "spark.sql.execution.arrow.enabled": "true",  # an old name that is still read
    "spark.sql.autoBroadcastJoinThreshold": "4g",
    "spark.driver.maxResultSize": "0",
    "spark.memory.fraction": "0.2",
    # Spark wants something that keeps shuffle files before it starts dynamic allocation, but not in its own tests.
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.testing": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "false",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.sql.shuffle.partitions": "2",
}


def main(directory: str) -> None:
    builder = SparkSession.builder.master("local-cluster[1,1,1024]").appName("odd settings")
    for key, value in {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{directory}", **ODD}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    frame = spark.range(100_000).selectExpr("id % 1000 as k", "id as v")
    frame.groupBy("k").count().collect()
    # Rows of an RDD of the JVM: Spark writes them by spark.serializer.
    frame._jdf.toJavaRDD().repartition(2).count()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
