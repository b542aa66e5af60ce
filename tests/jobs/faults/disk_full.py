"""Executors whose local disks are too small for the shuffle: its writes fail with "No space left on device".

A small file system is mounted where each executor keeps its blocks, which only root may do. In the healthy twin they
stay on the machine's own disk.
"""

import subprocess
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled
from tests.jobs.faults._processes import executor_pid

CODE = "H4"
MASTER = "local-cluster[2,4,1024]"
CONF = {"spark.sql.shuffle.partitions": "16"}
HEALTHY_CONF: dict[str, str] = {}

_DISK_BYTES = 24 << 20


def block_directory(spark: SparkSession, executor_id: str) -> Path:
    """Where this executor keeps its blocks."""
    environment = Path(f"/proc/{executor_pid(spark, executor_id)}/environ").read_bytes().decode().split("\0")
    (own,) = [line.partition("=")[2] for line in environment if line.startswith("SPARK_EXECUTOR_DIRS=")]
    (found,) = Path(own).glob("blockmgr-*")
    return found


def work(spark: SparkSession, healthy: bool) -> None:
    waited = F.expr("java_method('java.lang.Thread', 'sleep', 20L)").alias("waited")
    spark.sparkContext.setJobDescription("check the orders")
    spark.range(0, scaled(4_800), 1, 32).select(waited).agg(F.count("waited")).collect()
    mounted: list[Path] = []
    try:
        if not healthy:
            for place in [block_directory(spark, executor_id) for executor_id in ("0", "1")]:
                options = f"size={_DISK_BYTES},mode=1777"
                made = [folder.name for folder in place.iterdir()]
                subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)
                mounted.append(place)
                # The executor remembers which of its folders it has made already.
                for name in made:
                    (place / name).mkdir()
        spark.sparkContext.setJobDescription("sort the orders")
        rows = spark.range(0, 1_500_000, 1, 16).select("id", F.sha2(F.col("id").cast("string"), 512).alias("text"))
        rows.repartition("id").agg(F.max("text")).collect()
    finally:
        for place in mounted:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
