"""A day's work of a small airline data team, on flights that left New York City in 2013: slow for four real reasons.

1. Legs: flights joined with the weather at departure and with the aircraft, copied eight times over, kept in memory.
2. Tracks: position reports of the flights from JFK, grouped by route for a rolling window. One route reports every
   four minutes, the others every two hours, so that one partition out of 32 holds most rows; adaptive execution
   cannot split a window's group.
3. Ledger: the legs with their aircraft's papers, sorted in the two partitions that `spark.sql.shuffle.partitions`
   asks for (demo.sh): each is more than a task's memory, so it spills.
4. Risk: a score per leg by a Python function, called once per row.
5. Punctuality: percentiles of the delay over every hour, airport and carrier.

It knows nothing of a profiler. Run it with spark-submit: `app.py DATA_DIRECTORY OUTPUT_DIRECTORY`.
"""

from __future__ import annotations

import math
import sys

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

COPIES = 8
DENSE_ROUTE = "JFK-LAX"
TRACK_PARTITIONS = 32

SCHEMAS = {
    "flights": "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay double, arr_time int, "
    "sched_arr_time int, arr_delay double, carrier string, flight int, tailnum string, origin string, dest string, "
    "air_time double, distance double, hour int, minute int, time_hour timestamp",
    "weather": "origin string, year int, month int, day int, hour int, temp double, dewp double, humid double, "
    "wind_dir double, wind_speed double, wind_gust double, precip double, pressure double, visib double, "
    "time_hour timestamp",
    "planes": "tailnum string, year int, type string, manufacturer string, model string, engines int, seats int, "
    "speed int, engine string",
}


def read(spark: SparkSession, directory: str, name: str) -> DataFrame:
    """One table of the data set; `NA` is its word for null."""
    return spark.read.csv(f"{directory}/{name}.csv", schema=SCHEMAS[name], header=True, nullValue="NA")


def legs(spark: SparkSession, directory: str) -> DataFrame:
    """Flights with weather and aircraft, `COPIES` times: one row per leg."""
    weather = read(spark, directory, "weather").drop("year", "month", "day", "hour")
    planes = read(spark, directory, "planes").drop("type", "speed").withColumnRenamed("year", "built")
    flights = read(spark, directory, "flights").drop("hour", "minute", "year")
    copies = spark.range(COPIES).select(F.col("id").alias("copy"))
    return (
        flights.repartition(8)
        .join(weather, ["origin", "time_hour"], "left")
        .join(planes, "tailnum", "left")
        .crossJoin(copies)
        .withColumn("route", F.concat_ws("-", "origin", "dest"))
        .withColumn("departed", F.col("time_hour") + F.make_interval(days=F.col("copy").cast("int") * 400))
    )


def tracks(all_legs: DataFrame) -> DataFrame:
    """Position reports of every leg with rolling figures of the route: one partition gets nearly all rows."""
    dense = F.col("route") == DENSE_ROUTE
    every = F.when(dense, 4).otherwise(120)
    reports = (
        all_legs.where("origin = 'JFK' and air_time is not null")
        .select(
            "route", "flight", "departed", "air_time", "distance", "wind_speed", F.explode(minutes(every)).alias("m")
        )
        .withColumn("at", F.col("departed").cast("long") + F.col("m") * 60)
        .withColumn("speed", F.col("distance") / F.col("air_time") * (1 + F.sin(F.col("m") / F.col("air_time")) / 10))
    )
    last_reports = Window.partitionBy("route").orderBy("at", "flight").rowsBetween(-20, 0)
    return (
        reports.repartition(TRACK_PARTITIONS, "route")
        .withColumn("typical_speed", F.percentile_approx("speed", 0.5, 100).over(last_reports))
        .withColumn("gust", F.max("wind_speed").over(last_reports))
        .groupBy("route")
        .agg(F.avg("typical_speed").alias("speed"), F.max("gust").alias("gust"), F.count("*").alias("reports"))
    )


def minutes(every: Column) -> Column:
    return F.sequence(F.lit(0), F.col("air_time").cast("int"), every)


def ledger(all_legs: DataFrame) -> DataFrame:
    """Every leg with a line of text for its aircraft, in the order of aircraft and time."""
    line = F.concat_ws(
        "|", "tailnum", "manufacturer", "model", "built", "engines", "seats", "carrier", "route", "departed", "temp"
    )
    wide = all_legs.withColumn("line", line).withColumn("receipt", F.sha2(line, 512))
    return wide.repartition("tailnum").sortWithinPartitions("tailnum", "departed", "flight")


def icing_risk(temp: float | None, humid: float | None, wind_speed: float | None, distance: float | None) -> float:
    """A made-up score by a small integration in plain Python: slow on purpose, once per row."""
    if temp is None or humid is None:
        return 0.0
    celsius = (temp - 32.0) / 1.8
    risk = 0.0
    for step in range(24):
        height = step * 0.25
        air = celsius - 6.5 * height
        risk += math.exp(-((air + 5.0) ** 2) / 40.0) * humid / 100.0 * (1.0 + (wind_speed or 0.0) / 50.0)
    return risk * math.log1p(distance or 0.0)


def risk(all_legs: DataFrame) -> DataFrame:
    """The riskiest routes by the Python score."""
    score = F.udf(icing_risk, "double", useArrow=False)
    scored = all_legs.where("copy < 6").withColumn("risk", score("temp", "humid", "wind_speed", "distance"))
    return scored.groupBy("route").agg(F.avg("risk").alias("risk")).orderBy(F.desc("risk"))


def punctuality(all_legs: DataFrame) -> DataFrame:
    """Percentiles of the delay per hour of departure, airport and carrier."""
    return (
        all_legs.groupBy("month", "day", F.hour("time_hour").alias("hour"), "origin", "carrier")
        .agg(F.percentile_approx("arr_delay", F.array(F.lit(0.5), F.lit(0.95)), 1000).alias("delay"), F.count("*"))
        .orderBy(F.desc(F.col("delay")[1]))
    )


def main(data: str, output: str) -> None:
    spark = SparkSession.builder.appName("flights").getOrCreate()
    job = spark.sparkContext.setJobDescription

    job("legs: join flights, weather and planes, keep in memory")
    all_legs = legs(spark, data).cache()
    print(f"legs: {all_legs.count():,}")

    job("tracks: rolling figures per route")
    for row in tracks(all_legs).orderBy(F.desc("reports")).limit(3).collect():
        print(f"{row.route}: {row.reports:,} reports, typical speed {row.speed:.2f} miles a minute, gusts {row.gust}")

    job("ledger: sort every leg by aircraft and time")
    ledger(all_legs).write.mode("overwrite").parquet(f"{output}/ledger")

    job("risk: score every leg in Python")
    for row in risk(all_legs).limit(3).collect():
        print(f"{row.route}: icing risk {row.risk:.3f}")

    job("punctuality: delay percentiles per hour, airport and carrier")
    for row in punctuality(all_legs).limit(3).collect():
        print(
            f"{row.carrier} from {row.origin} on {row.month}/{row.day} at {row.hour}: {row.delay[1]:.0f} minutes late"
        )

    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: app.py DATA_DIRECTORY OUTPUT_DIRECTORY")
    main(sys.argv[1], sys.argv[2])
