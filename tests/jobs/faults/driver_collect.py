"""A loop that collects rows of each day into the driver and works on them there, while all executors wait.

The healthy twin lets the executors do that work. The work on a row is a call of a service that takes its time.
"""

import time

from pyspark.sql import SparkSession
from tests.jobs.faults import scaled
from tests.jobs.faults._waiting import waited

CODE = "A1"
MASTER = "local-cluster[2,4,1024]"
CONF: dict[str, str] = {}
HEALTHY_CONF: dict[str, str] = {}

_DAYS = 4
_SLOTS = 8
_CALL_MS = 20


def work(spark: SparkSession, healthy: bool) -> None:
    for day in range(_DAYS):
        spark.sparkContext.setJobDescription(f"orders of day {day}")
        orders = spark.range(0, scaled(960), 1, 2 * _SLOTS).where(waited(_CALL_MS))
        open_orders = orders.where("id % 4 = 0")
        if healthy:
            open_orders.where(waited(_CALL_MS)).count()
        else:
            for _ in open_orders.collect():
                time.sleep(_CALL_MS / 1000)
