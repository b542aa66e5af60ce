"""Keeps so many tasks at work for some seconds and prints the CPU time of each thread of its JVM, as JSON.

usage: busy_tasks.py TASKS SECONDS
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.window import Window


def main() -> None:
    tasks, seconds = int(sys.argv[1]), float(sys.argv[2])
    spark = SparkSession.builder.appName("busy tasks").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    began = time.monotonic()
    rounds = 0
    while time.monotonic() - began < seconds:
        rows = spark.range(0, 400_000 * tasks, 1, tasks).select("id", (f.col("id") % 5000).alias("key"))
        sums = rows.groupBy("key").agg(f.sum("id").alias("total"), f.collect_list("id").alias("all"))
        ranked = rows.withColumn("rank", f.rank().over(Window.partitionBy("key").orderBy(f.desc("id"))))
        joined = (
            ranked.join(sums, "key").where("rank < 400").select("key", f.hash("all", "total", "rank").alias("hash"))
        )
        joined.groupBy("hash").count().write.format("noop").mode("overwrite").save()
        rounds += 1
    wall_s = time.monotonic() - began
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    threads: dict[str, float] = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        name = (thread / "comm").read_text().strip()
        threads[name] = threads.get(name, 0) + int((thread / "schedstat").read_text().split()[0]) / 1e9
    ticks = [int(field) for field in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]]
    print(json.dumps({"rounds": rounds, "wall_s": wall_s, "process_cpu_s": sum(ticks) / 100, "threads_cpu_s": threads}))
    spark.stop()


main()
