"""An application with one hot spot after the other, each a job of its own whose description is the fault's name.

The Java functions beside this file do most of it: `java_functions` compiles them against pyspark's own jars. Two tasks
at a time for a few seconds of each fault, on `local[2]`; then work that is well.
"""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

JARS = Path(pyspark.__file__).parent / "jars"
FUNCTIONS = (
    "CompilesPattern",
    "Backtracks",
    "Boxes",
    "MakesFormats",
    "MakesClients",
    "ParsesDates",
    "Lists",
    "Logs",
    "ParsesJson",
    "Compresses",
    "Throws",
    "HashesStrings",
    "FormatsStrings",
    "Reflects",
    "DrawsIds",
)


def java_functions(directory: str) -> str:
    """A jar of the classes in HotSpots.java."""
    classes, jar = Path(directory) / "classes", Path(directory) / "hot-spots.jar"
    source = Path(__file__).with_name("HotSpots.java")
    subprocess.run(["javac", "-nowarn", "-cp", f"{JARS}/*", "-d", classes, source], check=True)
    with zipfile.ZipFile(jar, "w") as members:
        for path in sorted(classes.rglob("*.class")):
            members.write(path, path.relative_to(classes))
    return str(jar)


def call(spark: SparkSession, name: str, rows: int) -> None:
    spark.udf.registerJavaFunction(name, f"app.HotSpots${name}", "bigint")
    spark.range(0, rows, 1, 2).selectExpr(f"sum({name}(id))").collect()


def takes_rows(spark: SparkSession, rows: int) -> None:
    """A function that wants rows: each of its arguments is turned from Spark's own form into objects."""
    spark.udf.registerJavaFunction("TakesRows", "app.HotSpots$TakesRows", "bigint")
    structs = ", ".join(f"named_struct('a', {i}, 'b', 'name {i}', 'c', {i}L)" for i in range(100))
    spark.range(0, rows * 60, 1, 2).selectExpr(f"sum(TakesRows(array({structs})))").collect()


def shuffles_objects(spark: SparkSession, rows: int) -> None:
    context = spark.sparkContext
    context._jvm.app.HotSpots.shufflesObjects(context._jsc, rows * 40)


def evaluates_trees(spark: SparkSession, rows: int) -> None:
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    terms = " + ".join(f"sqrt(abs(id * {i} - 7))" for i in range(1, 12))
    spark.range(0, rows * 900, 1, 2).selectExpr(f"sum({terms})").collect()
    spark.conf.unset("spark.sql.codegen.wholeStage")
    spark.conf.unset("spark.sql.codegen.factoryMode")


def large_decimals(spark: SparkSession, rows: int) -> None:
    price = "cast(id as decimal(30,6)) * cast(1.0725 as decimal(30,6)) / cast(3.7 as decimal(30,6))"
    spark.range(0, rows * 1500, 1, 2).selectExpr(f"sum({price})").collect()


def well(spark: SparkSession, rows: int) -> None:
    """A shuffle, a sort and a join of plain columns."""
    numbers = spark.range(0, rows * 1500, 1, 2).selectExpr("id % 1000 as key", "sqrt(id) as value")
    sums = numbers.groupBy("key").sum("value")
    numbers.join(sums, "key").orderBy("value").selectExpr("count(*)", "sum(value)").write.format("noop").mode(
        "overwrite"
    ).save()


OTHERS: dict[str, Callable[[SparkSession, int], None]] = {
    "TakesRows": takes_rows,
    "ShufflesObjects": shuffles_objects,
    "EvaluatesTrees": evaluates_trees,
    "LargeDecimals": large_decimals,
    "Well": well,
}


def main(wanted: list[str]) -> None:
    rows = int(wanted[0])
    with tempfile.TemporaryDirectory() as directory:
        spark = (
            SparkSession.builder.master("local[2]")
            .appName("hot spots")
            .config("spark.ui.enabled", "false")
            .config("spark.jars", java_functions(directory))
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.memory", "1g")
            .getOrCreate()
        )
        try:
            for name in wanted[1:] or (*FUNCTIONS, *OTHERS):
                spark.sparkContext.setJobDescription(name)
                if name in OTHERS:
                    OTHERS[name](spark, rows)
                else:
                    call(spark, name, rows)
        finally:
            spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
