"""Four executors for work that one could do: each step waits for the one before it and never has more than four tasks.

The healthy twin asks for one executor and takes as long. Tasks wait, so that slots beyond the machine's cores lose
nothing.
"""

from pyspark.sql import SparkSession
from tests.jobs.faults import scaled
from tests.jobs.faults._waiting import waited

CODE = "A2"
MASTER = "local-cluster[4,4,512]"
CONF = {"spark.executor.cores": "4", "spark.executor.memory": "512m"}
HEALTHY_CONF = {"spark.cores.max": "4"}

_TASKS = 4


def work(spark: SparkSession, healthy: bool) -> None:
    del healthy  # the size of the cluster alone differs
    first = 0
    for step in range(scaled(24)):
        spark.sparkContext.setJobDescription(f"step {step} of the simulation")
        cells = spark.range(first, first + _TASKS, 1, _TASKS).where(waited(900))
        first = 1 + cells.selectExpr("max(id)").collect()[0][0]
