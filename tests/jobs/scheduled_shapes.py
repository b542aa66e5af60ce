"""Shapes of `shaped_job.py` for what schedulers do on their own: adaptive plans, barriers, speculation and the like.

Each takes the session and the application's folder. `SETTINGS` has what each needs besides.
"""

import contextlib
import os
import pathlib
import random
import socket
import subprocess
import time
from collections.abc import Iterator

import pyspark
from pyspark import BarrierTaskContext, TaskContext
from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SETTINGS: dict[str, dict[str, str]] = {
    "adaptive": {
        "spark.sql.shuffle.partitions": "20",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.autoBroadcastJoinThreshold": "1KB",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "128KB",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "256KB",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2",
    },
    "decommission": {
        "spark.decommission.enabled": "true",
        "spark.storage.decommission.enabled": "true",
        "spark.storage.decommission.shuffleBlocks.enabled": "true",
        "spark.storage.decommission.rddBlocks.enabled": "true",
        "spark.storage.decommission.replicationReattemptInterval": "2s",
    },
    "excluded": {
        "spark.excludeOnFailure.enabled": "true",
        "spark.excludeOnFailure.timeout": "5s",
        "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "1",
        "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": "2",
        "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "2",
    },
    "speculation": {
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.minTaskRuntime": "50ms",
    },
}
MASTERS = {
    "barrier": "local[2,4]",
    "executor_loss": "local-cluster[2,1,512]",
    "retries": "local-cluster[2,1,512]",
    "decommission": "local-cluster[2,1,512]",
    "excluded": "local-cluster[2,1,512]",
    "profiles": "local-cluster[1,2,512]",
}


def executor_pid() -> int:
    """Of the executor that runs this task: a Python worker is forked from a daemon, and that is its child."""
    daemon = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
    return int(daemon)


def adaptive(spark: SparkSession, folder: pathlib.Path) -> None:
    """Partitions joined and split, a join that becomes a broadcast one, an exchange used twice, a part found empty."""
    random.seed(5)
    key = F.when(F.col("id") < 150_000, F.lit(0)).otherwise(F.col("id") % 100).alias("k")
    left = spark.range(0, 200_000, 1, 4).select(key, F.sha2(F.col("id").cast("string"), 256).alias("v"))
    right = spark.range(0, 2000, 1, 2).select((F.col("id") % 1000).alias("k"), F.col("id").alias("w"))
    joined = left.join(right, "k")
    joined.write.format("noop").mode("overwrite").save()
    left.join(right.filter("w < 3"), "k").groupBy("k").count().collect()
    sums = left.groupBy("k").agg(F.count("*").alias("n"))
    sums.join(sums.withColumnRenamed("n", "m"), "k").collect()
    left.filter("v = 'none'").join(right, "k").collect()
    spark.sql("select count(*) from range(100) where id > (select avg(id) from range(50))").collect()


def barrier(spark: SparkSession, folder: pathlib.Path) -> None:
    """A barrier stage of which one task fails once: all of it runs again, which only one with a shuffle behind can."""
    mark = folder / "failed-once"

    def meets(rows: object) -> object:
        BarrierTaskContext.get().barrier()
        if TaskContext.get().partitionId() == 1 and not mark.exists():
            mark.touch()
            raise ValueError("one of the barrier")
        return rows

    pairs = spark.sparkContext.parallelize(range(100), 2).map(lambda x: (x % 2, x)).reduceByKey(lambda a, b: a + b, 2)
    pairs.barrier().mapPartitions(meets).reduceByKey(lambda a, b: a + b, 2).count()


def profiles(spark: SparkSession, folder: pathlib.Path) -> None:
    """A stage whose tasks take two cores each."""
    rows = spark.sparkContext.parallelize(range(6), 6)
    rows.count()
    profile = ResourceProfileBuilder().require(TaskResourceRequests().cpus(2)).build
    rows.map(lambda x: (x % 2, x)).withResources(profile).reduceByKey(lambda a, b: a + b, 2).count()


def decommission(spark: SparkSession, folder: pathlib.Path) -> None:
    """An executor that holds cached and shuffled data is told to go, and hands over what it has."""
    context, jvm = spark.sparkContext, spark.sparkContext._jvm
    pairs = context.parallelize(range(400), 4).map(lambda x: (x % 4, x)).reduceByKey(lambda a, b: a + b, 4).cache()
    pairs.count()
    info = jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo("told to go", jvm.scala.Option.empty())
    backend = context._jsc.sc().schedulerBackend()
    backend.decommissionExecutor("0", info, False, False)
    pairs.map(lambda pair: (pair[1] % 2, 1)).reduceByKey(lambda a, b: a + b, 2).count()
    while backend.getExecutorIds().contains("0"):
        time.sleep(0.2)
    pairs.count()


def excluded(spark: SparkSession, folder: pathlib.Path) -> None:
    """All tasks fail on one executor, until it is excluded from the stage, from the application, and forgiven."""
    pids = folder / "pid"

    def fails_there(value: int) -> int:
        time.sleep(0.2)
        with contextlib.suppress(FileExistsError), pids.open("x") as first:
            first.write(str(executor_pid()))
        if value < 8 and pids.read_text() == str(executor_pid()):
            raise ValueError("not on this one")
        return value

    spark.sparkContext.parallelize(range(8), 8).map(fails_there).count()
    time.sleep(5)
    spark.sparkContext.parallelize(range(8, 30), 22).map(fails_there).count()


def speculation(spark: SparkSession, folder: pathlib.Path) -> None:
    """Two tasks hang where they were begun and are run once more elsewhere: one copy wins, the other is killed."""

    def hangs(index: int, rows: object) -> object:
        if index < 2 and TaskContext.get().attemptNumber() == 0:
            time.sleep(60)
        return rows

    pairs = spark.sparkContext.parallelize(range(200), 8).map(lambda x: (x % 4, x))
    pairs.mapPartitionsWithIndex(hangs).reduceByKey(lambda a, b: a + b, 4).count()


@contextlib.contextmanager
def two_hosts(folder: pathlib.Path) -> Iterator[str]:
    """The master of a cluster whose two workers say that they are different hosts: Spark speculates on no other."""
    java = [str(pathlib.Path(os.environ["JAVA_HOME"], "bin/java")) if "JAVA_HOME" in os.environ else "java"]
    home = pathlib.Path(pyspark.__file__).parent
    java += ["-Xmx256m", "-cp", f"{home}/jars/*"]
    (core,) = home.glob("jars/spark-core_*.jar")
    scala = core.name.split("_")[1].split("-")[0]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    place = "org.apache.spark.deploy"
    master = [f"{place}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    worker = [f"{place}.worker.Worker", "--webui-port", "0", "-c", "2", "-m", "600m", "-d", str(folder / "work"), url]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_IP"}
    environment |= {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": scala}
    with contextlib.ExitStack() as stack:
        for command in (master, [*worker, "--host", "127.0.0.1"], [*worker, "--host", "127.0.0.2"]):
            name = f"cluster-{len(stack._exit_callbacks)}"
            output = stack.enter_context((folder / name).open("wb"))
            process = subprocess.Popen([*java, *command], stdout=output, stderr=output, env=environment)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield url


def all_executors(spark: SparkSession, count: int) -> None:
    """Waits for the executors."""
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() <= count:
        time.sleep(0.2)


SHAPES = {shape.__name__: shape for shape in (adaptive, barrier, profiles, decommission, excluded, speculation)}
