"""One of four executors is slow: its process runs in a quarter of the time only, as on an overloaded machine.

In the healthy twin all four run all the time. Tasks are alike and mostly sleep, in many short naps, so that what slows
them is the stopped process and not the number of the machine's cores.
"""

from contextlib import nullcontext

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled
from tests.jobs.faults._processes import Slowed, executor_pid

CODE = "B4"
MASTER = "local-cluster[4,2,1024]"
CONF: dict[str, str] = {}
HEALTHY_CONF: dict[str, str] = {}

_RUNNING_MS, _PERIOD_MS = 30, 120


def work(spark: SparkSession, healthy: bool) -> None:
    # The slow executor is slow from its first task on.
    with nullcontext() if healthy else Slowed(executor_pid(spark, "2"), _RUNNING_MS, _PERIOD_MS):
        for step in ("read", "clean", "score"):
            spark.sparkContext.setJobDescription(f"{step} the readings")
            rows = spark.range(0, scaled(9_000), 1, 60)
            waited = F.expr("java_method('java.lang.Thread', 'sleep', 6L)")
            rows.select("id", waited.alias("waited")).agg(F.max("id"), F.count("waited")).collect()
