"""A job of a second: prints a sum, then does what its arguments say: `exit CODE`, or `wait` for ever. With `plugins` or
`jars PATH` its code sets spark.plugins or spark.jars itself."""

import sys

from pyspark.sql import SparkSession

what = sys.argv[1]
builder = SparkSession.builder.appName("tiny")
if what == "plugins":
    builder = builder.config("spark.plugins", "")
if what == "jars":
    builder = builder.config("spark.jars", sys.argv[2])
spark = builder.getOrCreate()
total = spark.range(0, 100_000, 1, 2).selectExpr("sum(id % 7) AS total").first()
print(f"total {total.total}", flush=True)
if what == "wait":
    sys.stdin.read()
spark.stop()
if what == "exit":
    sys.exit(int(sys.argv[2]))
