"""A small application that makes Spark write the kinds of events that the event-log reader knows.

usage: logged_job.py LOG_DIRECTORY TOPIC,… [KEY=VALUE…]    (KEY=VALUE: further Spark settings)

Topics are the functions below. The secrets in it are made up; the reader's tests look for them.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType


def orders(spark: SparkSession) -> DataFrame:
    skewed = F.when(F.col("id") % 3 > 0, 0).otherwise(F.col("id") % 50)
    return spark.range(0, 20_000, 1, 3).withColumn("customer", skewed)


def customers(spark: SparkSession) -> DataFrame:
    return spark.range(0, 50).withColumnRenamed("id", "customer").withColumn("name", F.lit("somebody"))


def report(spark: SparkSession) -> None:
    """A broadcast join and an aggregation."""
    counts = orders(spark).join(F.broadcast(customers(spark)), "customer").groupBy("customer").agg(F.count("*"))
    counts.collect()


def python(spark: SparkSession) -> None:
    """A Python function per row."""
    double = F.udf(lambda value: sum(2 for _ in range(value % 100)) + value * 2, LongType())
    orders(spark).select(F.sum(double("id"))).collect()


def arrow(spark: SparkSession) -> None:
    """Python functions over Arrow batches; Spark asks for pandas."""
    orders(spark).select("id").mapInArrow(lambda batches: batches, "id long").filter("id % 7 = 0").count()


def cache(spark: SparkSession) -> None:
    """A cached table, used twice."""
    cached = orders(spark).filter("customer < 10").cache()
    cached.count()
    cached.groupBy("customer").count().count()


def adaptive(spark: SparkSession) -> None:
    """A sort-merge join that is planned anew while it runs, with a subquery."""
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    joined = orders(spark).join(customers(spark), "customer")
    joined.filter("customer > (select avg(id) / 2000 from range(100))").count()


def shuffle(spark: SparkSession) -> None:
    """One shuffle for two jobs: the second job skips a stage."""
    pairs = spark.sparkContext.parallelize(range(1000), 2).map(lambda x: (x % 5, x)).reduceByKey(lambda a, b: a + b)
    pairs.count()
    pairs.map(lambda pair: pair[1]).sum()


def many(spark: SparkSession) -> None:
    """Many small tasks, to fill more than one rolled file."""
    spark.range(0, 1200, 1, 600).write.format("noop").mode("overwrite").save()


def write(spark: SparkSession) -> None:
    """A file is written."""
    orders(spark).limit(100).coalesce(1).write.mode("overwrite").parquet(sys.argv[1] + "/out")


def failures(spark: SparkSession) -> None:
    """A failing job and a failing query, with a secret in its message."""
    for action in (
        lambda: spark.sparkContext.parallelize([1, 0], 2).map(lambda x: 1 // x).collect(),
        lambda: spark.range(4).select(F.raise_error(F.lit("cannot log in: password=swordfish-4"))).collect(),
    ):
        try:
            action()
        except Exception as error:
            print(type(error).__name__)


def session() -> SparkSession:
    builder = (
        SparkSession.builder.appName("logged-job")
        .master("local-cluster[2,1,512]")
        .config("spark.executor.memory", "512m")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", sys.argv[1] + "/warehouse")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", "file://" + sys.argv[1])
        .config("spark.eventLog.logStageExecutorMetrics", "true")
        .config("spark.executor.metrics.pollingInterval", "50ms")
        .config("spark.task.maxFailures", "2")
        .config("spark.example.url", "jdbc:postgresql://db.example:5432/shop?user=reader&password=swordfish-1")
        .config("spark.example.api.token", "swordfish-2")
        .config("spark.driver.extraJavaOptions", "-Dshop.password=swordfish-3 -Dshop.mode=test")
    )
    for setting in sys.argv[3:]:
        builder = builder.config(*setting.split("=", 1))
    return builder.getOrCreate()


if __name__ == "__main__":
    spark = session()
    spark.sparkContext.setLogLevel("OFF")
    for topic in sys.argv[2].split(","):
        function = globals()[topic]
        spark.sparkContext.setJobGroup(topic, function.__doc__)
        function(spark)
    spark.stop()
