"""A small job with SQL, an RDD and a task that fails once. It prints a line and ends as it is told.

usage: recorded_job.py stop|exit|wait    (exit: code 7 without spark.stop(); wait: until it is interrupted)
"""

import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession


def fail_once(number: int) -> int:
    context = TaskContext.get()
    if context.attemptNumber() == 0 and context.partitionId() == 1:
        raise ValueError("the first attempt fails")
    return number


def main() -> None:
    spark = SparkSession.builder.appName("recorded job").getOrCreate()
    context = spark.sparkContext
    context.setJobGroup("the group", "a description of this very job, für alle")
    groups = spark.range(0, 8_000_000, 1, 4).selectExpr("id % 100 AS k", "sqrt(id) AS v").groupBy("k").sum("v")
    print("groups", groups.count())
    print("sum", context.parallelize(range(8), 4).map(fail_once).sum())
    sys.stdout.flush()
    if sys.argv[1] == "exit":
        sys.exit(7)
    if sys.argv[1] == "wait":
        print("waiting", flush=True)
        time.sleep(120)
    spark.stop()


main()
