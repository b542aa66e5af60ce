"""Speculation that copies healthy tasks: tasks differ by nature, and copies start as soon as one takes a bit longer.

A copy takes as long as the original, so that none of them wins; meanwhile they hold the cores that the other jobs wait
for. The healthy twin has no speculation. Tasks sleep, so that tasks beyond the machine's cores lose nothing.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled
from tests.jobs.faults._standalone import two_hosts

CODE = "B7"
CONF = {
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.2",
    "spark.speculation.efficiency.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
}
HEALTHY_CONF = {"spark.speculation": "false"}

_JOBS = 4
_TASKS = 16


def cluster() -> AbstractContextManager[str]:
    return two_hosts(cores=4, memory="1g")


def report(spark: SparkSession, number: int, rounds: int, naps: int) -> None:
    """Two fifths of the tasks take four times `naps` naps of 10 ms, the others `naps`."""
    spark.sparkContext.setJobDescription(f"report {number}")
    for _ in range(rounds):
        rows = spark.range(0, _TASKS * 4 * naps, 1, _TASKS)
        here = (F.col("id") % (4 * naps)) < naps * F.when(F.spark_partition_id() % 5 < 3, 1).otherwise(4)
        waited = F.expr("java_method('java.lang.Thread', 'sleep', 10L)")
        rows.where(here).select(waited.alias("waited")).agg(F.count("waited")).collect()


def work(spark: SparkSession, healthy: bool) -> None:
    naps = scaled(80)
    with ThreadPoolExecutor(_JOBS) as pool:
        started = [
            pool.submit(inheritable_thread_target(spark)(report), spark, number, 2, naps) for number in range(_JOBS)
        ]
    for one in started:
        one.result()
