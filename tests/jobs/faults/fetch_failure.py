"""An executor is killed after it wrote its shuffle output: the tasks that read it fail, and what is lost runs again.

In the healthy twin nobody kills it. Tasks sleep, so that tasks beyond the machine's cores lose nothing.
"""

import os
import signal
import threading

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled
from tests.jobs.faults._processes import executor_pid

CODE = "H3"
MASTER = "local-cluster[2,4,1024]"
CONF = {"spark.sql.shuffle.partitions": "24", "spark.sql.adaptive.coalescePartitions.enabled": "false"}
HEALTHY_CONF: dict[str, str] = {}


def kill_in_last_stage(spark: SparkSession, pid: int, over: threading.Event) -> None:
    """Kills the process when a stage runs that reads a shuffle, and some of its tasks are done."""
    tracker = spark.sparkContext.statusTracker()
    while not over.wait(0.2):
        for stage in tracker.getActiveStageIds():
            facts = tracker.getStageInfo(stage)
            if facts is not None and stage > 0 and facts.numActiveTasks and facts.numCompletedTasks >= 2:
                os.kill(pid, signal.SIGKILL)
                return


def work(spark: SparkSession, healthy: bool) -> None:
    naps = scaled(100)
    waited = F.expr("java_method('java.lang.Thread', 'sleep', 20L)")
    orders = spark.range(0, 40 * naps, 1, 40).select((F.col("id") % 480).alias("shop"), waited.alias("waited"))
    by_shop = orders.groupBy("shop").agg(F.count("waited").alias("orders"))
    slow = F.expr(f"java_method('java.lang.Thread', 'sleep', orders * 0L + {naps}L)")
    over = threading.Event()
    killer = threading.Thread(target=kill_in_last_stage, args=(spark, executor_pid(spark, "0"), over))
    spark.sparkContext.setJobDescription("orders by shop")
    if not healthy:
        killer.start()
    try:
        by_shop.select(slow.alias("waited")).agg(F.count("waited")).collect()
    finally:
        over.set()
        if not healthy:
            killer.join()
