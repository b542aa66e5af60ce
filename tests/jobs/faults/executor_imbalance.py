"""Data that are cached on one of four executors: tasks wait for it, however many cores are free elsewhere.

The healthy twin does not wait for a place. Tasks sleep, so that tasks beyond the machine's cores lose nothing.
"""

import time
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession
from tests.jobs.faults import scaled

CODE = "B6"
MASTER = "local-cluster[4,2,1024]"
CONF = {"spark.locality.wait": "60s"}
HEALTHY_CONF = {"spark.locality.wait": "0s"}

_TASKS = 40


def slowly(rows: Iterable[int]) -> Iterator[int]:
    for row in rows:
        time.sleep(0.1)
        yield row


def work(spark: SparkSession, healthy: bool) -> None:
    context = spark.sparkContext
    rows = scaled(15)
    kept = context.parallelize(range(rows), 1).cache()
    context.setJobDescription("keep the rates")
    kept.count()
    # Each of the tasks reads the one partition that is kept.
    everywhere = context.union([kept] * _TASKS)
    context.setJobDescription("apply the rates")
    everywhere.mapPartitions(slowly).count()
