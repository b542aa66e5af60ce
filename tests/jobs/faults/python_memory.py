"""A Python function that keeps all rows of its partition at once, beyond the memory that a Python worker may take.

The healthy twin lets each row go when it is done with it. The faulty job is ended by Spark after four attempts.
"""

from collections.abc import Iterator
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE: Final = "C6"
CONF: Final = {
    "spark.executor.pyspark.memory": "1g",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}
HEALTHY_CONF: Final[dict[str, str]] = {}


def work(spark: SparkSession, healthy: bool) -> None:
    """Spark hashes many long texts, then Python makes a page of few of them."""

    def pages(rows: Iterator[Any]) -> Iterator[int]:
        kept = []
        for row in rows:
            page = bytes(40 << 20)  # what a document becomes in memory
            if not healthy:
                kept.append(page)
            yield len(page) + len(row.text)

    texts = spark.range(0, scaled(560_000), 1, 16).select(
        (F.col("id") % 640).alias("key"), F.sha2(F.repeat(F.col("id").cast("string"), 12_000), 512).alias("text")
    )
    texts.groupBy("key").agg(F.max("text").alias("text")).rdd.mapPartitions(pages).count()
