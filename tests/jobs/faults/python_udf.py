"""A Python function, row by row, for what a built-in function does: it parses a date out of a text.

The healthy twin calls to_date.
"""

from datetime import date, datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DateType
from tests.jobs.faults import scaled

CODE = "F3"
CONF = {"spark.sql.shuffle.partitions": "8"}


def parse_date(text: str) -> date:
    return datetime.strptime(text, "%Y-%m-%d").date()


def work(spark: SparkSession, healthy: bool) -> None:
    texts = spark.range(0, scaled(6_000_000), 1, 4).select(
        F.date_format(F.date_add(F.lit("2020-01-01"), (F.col("id") % 2000).cast("int")), "yyyy-MM-dd").alias("text")
    )
    day = F.to_date("text", "yyyy-MM-dd") if healthy else F.udf(parse_date, DateType())("text")
    spark.sparkContext.setJobDescription("rows of each month")
    texts.select(day.alias("day")).groupBy(F.month("day")).count().collect()
