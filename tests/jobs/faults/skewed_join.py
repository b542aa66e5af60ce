"""A join in which a third of the rows have one key, too small for adaptive execution to split by its defaults.

In the healthy twin the same rows spread over all keys. Each row takes its time however fast the machine is (it
sleeps), so that tasks beyond the machine's cores lose nothing.
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "B1"
MASTER = "local-cluster[2,4,1024]"
CONF = {
    "spark.sql.shuffle.partitions": "32",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}
HEALTHY_CONF: dict[str, str] = {}

_KEYS = 3_000
_HOT_PERCENT = 33


def work(spark: SparkSession, healthy: bool) -> None:
    key = F.expr(f"pmod(xxhash64(id), {_KEYS})")
    if not healthy:
        key = F.when(F.expr(f"pmod(xxhash64(id, 1), 100) < {_HOT_PERCENT}"), F.lit(7)).otherwise(key)
    # 5 KB a row, so that neither side is small enough to be sent to all executors.
    payload = F.expr("concat(" + ", ".join(f"sha2(cast(id + {n} as string), 512)" for n in range(40)) + ")")
    flights = spark.range(0, scaled(9_000), 1, 16).select(key.alias("airport"), payload.alias("payload"))
    airports = spark.range(0, _KEYS, 1, 8).select(F.col("id").alias("airport"), payload.alias("facts"))
    waited = F.expr("java_method('java.lang.Thread', 'sleep', length(payload) * 0L + 8L)")
    joined = flights.join(airports, "airport").select("facts", waited.alias("waited"))
    spark.sparkContext.setJobDescription("flights by airport")
    joined.agg(F.max("facts"), F.count("waited")).collect()
