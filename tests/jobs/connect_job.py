"""A client of Spark Connect, with its server beside it. Needs `pyspark[connect]`.

usage: SPARK_CONF_DIR=DIRECTORY connect_job.py    (spark-defaults.conf there says spark.eventLog.enabled and .dir)
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

if __name__ == "__main__":
    spark = SparkSession.builder.remote("local[2]").appName("connect-job").getOrCreate()
    spark.addTag("nightly")
    spark.range(1000).groupBy((F.col("id") % 7).alias("k")).count().orderBy("k").collect()
    spark.sql("select 1 as one, 'password=swordfish-9' as p").collect()
    for query in ("select raise_error('no')", "select * from nowhere"):
        try:
            spark.sql(query).collect()
        except Exception as error:
            print(type(error).__name__)
    spark.stop()
