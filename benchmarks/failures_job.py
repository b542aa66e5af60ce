"""The job of each failure of failures_make.py, run by spark-submit; with --healthy the twin without the fault.

python benchmarks/failures_job.py NAME [--healthy] [--place DIR]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

MARK = "faulted"
"""The file in DIR that says that the one process was struck already."""


def session(name: str) -> SparkSession:
    return SparkSession.builder.appName(name.replace("_", " ")).getOrCreate()


def executor_pid() -> int:
    """The Java process above this Python worker."""
    pid = os.getppid()
    while True:
        if Path(f"/proc/{pid}/comm").read_text().strip() == "java":
            return pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def in_each_partition(spark: SparkSession, act: Callable[[], None], partitions: int = 4) -> int:
    """Some work with Python in it; `act` is called once in each task."""

    def run(rows: Iterator[int]) -> Iterator[int]:
        act()
        yield sum(rows)

    return int(spark.sparkContext.parallelize(range(4_000), partitions).mapPartitions(run).sum())


def yarn_memory(spark: SparkSession, healthy: bool, place: Path) -> None:
    def hold() -> None:
        held = []
        for _ in range(4 if healthy else 30):
            held.append(bytearray(b"x") * ((1 if healthy else 50) << 20))
            time.sleep(0.2)

    in_each_partition(spark, hold, 2)


def _strike(healthy: bool, place: Path, number: int) -> Callable[[], None]:
    def act() -> None:
        context = TaskContext.get()
        time.sleep(1)
        if healthy or context is None or context.partitionId() != 1 or (place / MARK).exists():
            return
        (place / MARK).touch()
        os.kill(executor_pid(), number)
        time.sleep(20)

    return act


def sigkill(spark: SparkSession, healthy: bool, place: Path) -> None:
    in_each_partition(spark, _strike(healthy, place, signal.SIGKILL))


def heartbeat(spark: SparkSession, healthy: bool, place: Path) -> None:
    in_each_partition(spark, _strike(healthy, place, signal.SIGSTOP))


def disk_full(spark: SparkSession, healthy: bool, place: Path) -> None:
    """A small file system is mounted where each executor keeps its blocks, which only root may do."""
    in_each_partition(spark, lambda: time.sleep(0.5), 2)
    mounted: list[Path] = []
    try:
        for blocks in [] if healthy else list(place.rglob("blockmgr-*")):
            made = [folder.name for folder in blocks.iterdir()]
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=1777", "tmpfs", str(blocks)], check=True)
            mounted.append(blocks)
            for name in made:  # the executor remembers which it has made already
                (blocks / name).mkdir()
        text = F.sha2(F.col("id").cast("string"), 512).alias("text")
        rows = spark.range(0, 4_000 if healthy else 700_000, 1, 2).select("id", text)
        rows.repartition(4, "id").agg(F.max("text")).collect()
    finally:
        for blocks in mounted:
            subprocess.run(["umount", "--lazy", str(blocks)], check=True)


def fetch_failed(spark: SparkSession, healthy: bool, place: Path) -> None:
    """Something removes the files of the shuffle as soon as they are written, as a cleaner of temporary files does."""

    def clean() -> None:
        while True:
            for path in list(place.rglob("shuffle_*.data")):
                path.unlink(missing_ok=True)
            time.sleep(0.01)

    if not healthy:
        threading.Thread(target=clean, daemon=True).start()
    waited = F.expr("java_method('java.lang.Thread', 'sleep', 300L)").alias("waited")
    rows = spark.range(0, 8, 1, 4).select("id", waited).repartition(4, "id").select("id", waited)
    rows.repartition(2, "id").agg(F.sum("id")).collect()


def driver_heap(spark: SparkSession, healthy: bool, place: Path) -> None:
    text = F.expr(f"repeat(cast(id as string), {1_000 if healthy else 5_000_000})").alias("text")
    spark.range(100, 400, 1, 10).select(text).collect()


def python_crash(spark: SparkSession, healthy: bool, place: Path) -> None:
    def read_null() -> None:
        if not healthy:
            ctypes.string_at(0)

    in_each_partition(spark, read_null)


def missing_class(spark: SparkSession, healthy: bool, place: Path) -> None:
    spark.range(10).count()
    driver, url, table = "org.postgresql.Driver", "jdbc:postgresql://db.example.com/shop", "orders"
    if healthy:
        driver, url = "org.apache.derby.iapi.jdbc.AutoloadedDriver", "jdbc:derby:memory:shop;create=true"
        table = "SYS.SYSTABLES"
    reader = spark.read.format("jdbc").option("driver", driver).option("url", url).option("dbtable", table)
    reader.load().limit(5).collect()


def wrong_credentials(spark: SparkSession, healthy: bool, place: Path) -> None:
    spark.range(10).count()
    if healthy:
        spark.range(100).write.mode("overwrite").parquet("s3a://shop/orders")
    spark.read.parquet("s3a://shop/orders").count()


def exit_13(spark: SparkSession, healthy: bool, place: Path) -> None:
    spark.range(100).count()


def wrong_java(spark: SparkSession, healthy: bool, place: Path) -> None:
    spark.range(100).selectExpr("sum(id)").collect()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--place", type=Path, default=Path())
    asked = parser.parse_args()
    if asked.name == "exit_13" and not asked.healthy:
        spark = SparkSession.builder.master("local[1]").appName("exit 13").getOrCreate()
    else:
        spark = session(asked.name)
    globals()[asked.name](spark, asked.healthy, asked.place)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
