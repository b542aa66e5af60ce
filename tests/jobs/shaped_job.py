"""An application of one shape that writes an event log, and says on its last line what Spark itself counted.

usage: shaped_job.py SHAPE FOLDER [KEY=VALUE…]    (the log goes to FOLDER/log)

The counts come from Spark's live status store, which the event log has no part in: one JSON object.
"""

import contextlib
import glob
import json
import os
import pathlib
import signal
import sys
import time

import scheduled_shapes
from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from scheduled_shapes import MASTERS, SETTINGS, SHAPES, all_executors, executor_pid, two_hosts

cloudpickle.register_pickle_by_value(scheduled_shapes)  # executors do not have that file
FOLDER = pathlib.Path(sys.argv[2]).resolve()


def plain(spark: SparkSession) -> None:
    """Two jobs over one shuffle, a query, a cached table, a job that fails."""
    pairs = spark.sparkContext.parallelize(range(1000), 3).map(lambda x: (x % 5, x)).reduceByKey(lambda a, b: a + b)
    pairs.count()
    pairs.map(lambda pair: pair[1]).sum()
    spark.range(0, 9000, 1, 3).groupBy((F.col("id") % 7).alias("k")).count().collect()
    cached = spark.range(0, 500, 1, 2).cache()
    cached.count()
    cached.filter("id > 3").count()
    with contextlib.suppress(Exception):
        spark.sparkContext.parallelize([1, 0], 2).map(lambda x: 1 // x).collect()


def rolled(spark: SparkSession) -> None:
    """Enough tasks for more than one rolled file of the least size: 2 MiB, before Spark 4.3 10 MiB."""
    plain(spark)
    size = spark.conf.get("spark.eventLog.rolling.maxFileSize")
    tasks = 900 if size == "2m" else 3600
    spark.range(0, tasks, 1, tasks).write.format("noop").mode("overwrite").save()


def retries(spark: SparkSession) -> None:
    """A task that fails once, and a stage whose shuffle files vanish: Spark runs the stage before it again."""

    def fails_once(value: int) -> int:
        if value == 1 and TaskContext.get().attemptNumber() == 0:
            raise ValueError("the first attempt fails")
        return value

    spark.sparkContext.parallelize(range(4), 4).map(fails_once).count()
    mark = FOLDER / "files-gone"
    pattern = str(FOLDER / "local" / "**" / "shuffle_*.data")

    def loses_files(rows: object) -> object:
        if not mark.exists():
            mark.touch()
            for name in glob.glob(pattern, recursive=True):
                os.unlink(name)
        return rows

    pairs = spark.sparkContext.parallelize(range(200), 4).map(lambda x: (x % 4, x)).reduceByKey(lambda a, b: a + b, 4)
    pairs.count()
    spark.sparkContext.parallelize(range(2), 2).mapPartitions(loses_files).count()
    pairs.map(lambda pair: pair[1]).sum()


def executor_loss(spark: SparkSession) -> None:
    """An executor dies in the middle of a stage, with the shuffle files that it holds."""
    mark = FOLDER / "executor-gone"

    def dies_once(rows: object) -> object:
        if TaskContext.get().partitionId() == 5 and not mark.exists():
            mark.touch()
            os.kill(executor_pid(), signal.SIGKILL)
            time.sleep(60)
        return rows

    pairs = spark.sparkContext.parallelize(range(600), 6).map(lambda x: (x % 6, x)).reduceByKey(lambda a, b: a + b, 6)
    pairs.mapPartitions(dies_once).count()


def streaming(spark: SparkSession) -> None:
    """Three micro-batches from files, with state."""
    source = FOLDER / "in"
    source.mkdir()
    for number in range(3):
        (source / f"{number}.csv").write_text("\n".join(f"{i},{i % 3}" for i in range(50)))
    rows = spark.readStream.schema("id long, k int").option("maxFilesPerTrigger", 1).csv(str(source))
    query = (
        rows.groupBy("k")
        .count()
        .writeStream.outputMode("complete")
        .format("memory")
        .queryName("counts")
        .option("checkpointLocation", str(FOLDER / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def killed(spark: SparkSession) -> None:
    """The driver is killed while a job runs."""
    plain(spark)
    spark.sparkContext.parallelize(range(2), 2).count()


def long(spark: SparkSession) -> None:
    """A job every now and then, to be looked at while it runs."""
    for _ in range(6):
        plain(spark)


def overload(spark: SparkSession) -> None:
    """Many short tasks: more events than a short queue to the event log can hold."""
    plain(spark)
    for tasks in (1500, 8):
        spark.range(0, tasks, 1, tasks).write.format("noop").mode("overwrite").save()


def connect(spark: SparkSession) -> None:
    """Queries through Spark Connect."""
    spark.range(0, 100, 1, 2).groupBy((F.col("id") % 3).alias("k")).count().collect()
    spark.sql("select count(*) from range(10)").collect()


def counts(spark: SparkSession) -> dict[str, int]:
    """What Spark's status store holds, once its listeners have seen everything."""
    context = spark.sparkContext._jsc.sc()
    store, jvm = context.statusStore(), spark.sparkContext._jvm
    nothing = jvm.java.util.ArrayList()
    quantiles = spark.sparkContext._gateway.new_array(jvm.double, 0)
    while True:  # tasks of a job that failed end after it
        context.listenerBus().waitUntilEmpty()
        listed = store.stageList(None, False, False, quantiles, nothing)
        stages = [listed.apply(i) for i in range(listed.size())]
        if not any(stage.numActiveTasks() for stage in stages):
            break
        time.sleep(0.1)
    jobs = store.jobsList(None)
    states = [str(jobs.apply(i).status()) for i in range(jobs.size())]
    ran = [stage for stage in stages if str(stage.status()) not in ("SKIPPED", "PENDING")]
    executors = store.executorList(False)
    return {
        "jobs": len(states),
        "jobs_failed": states.count("FAILED"),
        "stage_attempts": len(ran),
        "stage_attempts_failed": sum(str(stage.status()) == "FAILED" for stage in ran),
        "tasks_succeeded": sum(stage.numCompleteTasks() for stage in ran),
        "tasks_failed": sum(stage.numFailedTasks() for stage in ran),
        "tasks_killed": sum(stage.numKilledTasks() for stage in ran),
        "executor_run_time_ms": sum(stage.executorRunTime() for stage in ran),
        "shuffle_write_bytes": sum(stage.shuffleWriteBytes() for stage in ran),
        "sql_executions": spark._jsparkSession.sharedState().statusStore().executionsCount(),
        "executors_removed": sum(not executors.apply(i).isActive() for i in range(executors.size())),
    }


def session(shape: str, master: str) -> SparkSession:
    builder = SparkSession.builder.appName(f"shaped-{shape}")
    builder = builder.remote(master) if shape == "connect" else builder.master(master)
    settings = {
        "spark.executor.memory": "512m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
        "spark.local.dir": str(FOLDER / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (FOLDER / "log").as_uri(),
        **SETTINGS.get(shape, {}),
        **dict(setting.split("=", 1) for setting in sys.argv[3:]),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run(shape: str, master: str) -> dict[str, int]:
    """Runs the application of a shape to its end. What Spark counted."""
    spark = session(shape, master)
    if shape == "connect":
        connect(spark)
        spark.stop()
        return {"sql_executions": 2}
    spark.sparkContext.setLogLevel("OFF")
    if master.startswith("spark:"):
        all_executors(spark, 2)
    if shape in SHAPES:
        SHAPES[shape](spark, FOLDER)
    else:
        globals()[shape](spark)
    said = counts(spark)
    if shape == "killed":
        jvm = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
        print(json.dumps(said), flush=True)
        os.kill(jvm, signal.SIGKILL)
        os._exit(0)
    spark.stop()
    return said


if __name__ == "__main__":
    shape = sys.argv[1]
    for name in ("log", "local"):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
    cluster = two_hosts(FOLDER) if shape == "speculation" else contextlib.nullcontext(MASTERS.get(shape, "local[2]"))
    with cluster as master:
        said = run(shape, master)
    print(json.dumps(said), flush=True)
