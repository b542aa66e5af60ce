"""The jobs that `overhead.py` measures; started by spark-submit.

    spark-submit benchmarks/overhead_job.py DATA SCALE RESULT queries|udf [--queries 1,9] [--warm-up]

`queries` asks the questions of `tpch.py` one after the other; `udf` sends the rows of `lineitem` through Python in
two ways: a function of a value and functions of an RDD. RESULT gets what was answered, in short, and when the work
began and ended, without the start of Spark.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tpch import QUERIES, TABLES, query


def digest(rows: list[Any]) -> str:
    return hashlib.sha256("\n".join(sorted(map(str, rows))).encode()).hexdigest()[:16]


def vowels(text: str) -> int:
    return sum(text.count(letter) for letter in "aeiou")


def through_python(spark: SparkSession) -> dict[str, Callable[[], list[Any]]]:
    """A job for each way to Python; parts of the table, so that each takes about as long."""
    lines = spark.table("lineitem")
    count_vowels = F.udf(vowels, "int", useArrow=False)

    def values() -> list[Any]:
        some = lines.where("l_linenumber <= 2").withColumn("vowels", count_vowels("l_comment"))
        return some.groupBy("l_shipmode").agg(F.sum("vowels"), F.count("*")).collect()

    def rdd() -> list[Any]:
        pairs = lines.where("l_linenumber = 3").select("l_shipmode", "l_quantity").rdd
        sums = pairs.map(lambda row: (row[0], int(row[1]))).reduceByKey(lambda one, other: one + other)
        return sums.collect()

    return {"values": values, "rdd": rdd}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("scale", type=float)
    parser.add_argument("result", type=Path)
    parser.add_argument("work", choices=("queries", "udf"))
    parser.add_argument("--queries", default=",".join(map(str, QUERIES)))
    parser.add_argument("--warm-up", action="store_true", help="do it all once before the time that counts as work")
    chosen = parser.parse_args()
    spark = SparkSession.builder.appName(f"overhead {chosen.work}").getOrCreate()
    for table in TABLES:
        spark.read.parquet(str(chosen.data / f"{table}.parquet")).createOrReplaceTempView(table)
    if chosen.work == "udf":
        parts = through_python(spark)
    else:
        texts = {number: query(int(number), chosen.scale) for number in chosen.queries.split(",")}
        parts = {number: lambda text=text: spark.sql(text).collect() for number, text in texts.items()}
    for _ in range(2 if chosen.warm_up else 1):
        began = time.time()
        took, answers = {}, {}
        for name, ask in parts.items():
            start = time.monotonic()
            answers[name] = digest(ask())
            took[name] = round(time.monotonic() - start, 3)
    ended = time.time()
    said = {"app_id": spark.sparkContext.applicationId, "began": began, "ended": ended, "took_s": took}
    chosen.result.write_text(json.dumps(said | {"answers": answers}))
    spark.stop()


if __name__ == "__main__":
    main()
