"""An application that does one thing after the other, each as a job of its own whose description is the thing's name.

usage: job.py THING[=ROWS] …

allocates       one allocation site                 sleeps          time passes and nothing is done
leaks           objects that are kept for ever      waits           for what a connection brings
locks           one lock that all tasks want        takes_native    memory outside of the heap, kept for ever
loads_classes   classes without an end              stops           operations for which the whole JVM stands still

Two tasks at a time. The Java functions beside this file do the work; they are compiled when the job starts, which needs
a JDK. The figure after the name is the number of rows.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

THINGS = {
    "allocates": ("Allocates", 100),
    "leaks": ("Leaks", 1000),
    "locks": ("Locks", 60),
    "sleeps": ("Sleeps", 200),
    "waits": ("Waits", 100),
    "takes_native": ("TakesNative", 500),
    "loads_classes": ("LoadsClasses", 100),
    "stops": ("Stops", 100),
}
"""The function of each thing, and how many rows it does unless it is told."""


def functions(spark: SparkSession, folder: Path) -> Path:
    """A jar of the classes in Kinds.java, compiled against what the driver runs on."""
    classes, jar = folder / "classes", folder / "kinds.jar"
    libraries = spark.sparkContext._jvm.java.lang.System.getProperty("java.class.path")
    source = Path(__file__).with_name("Kinds.java")
    flags = ["-nowarn", "-source", "8", "-target", "8", "-Xlint:-options"]
    subprocess.run(["javac", *flags, "-cp", libraries, "-d", str(classes), str(source)], check=True)
    with zipfile.ZipFile(jar, "w") as members:
        for path in sorted(classes.rglob("*.class")):
            members.write(path, path.relative_to(classes))
    return jar


def main(asked: list[str]) -> None:
    spark = SparkSession.builder.appName("kinds").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        spark.sql(f"ADD JAR '{functions(spark, Path(folder))}'").collect()
        for word in asked:
            thing, _, number = word.partition("=")
            function, rows = THINGS[thing]
            spark.udf.registerJavaFunction(thing, f"app.Kinds${function}", "bigint")
            spark.sparkContext.setJobDescription(thing)
            spark.range(0, int(number or rows), 1, 2).selectExpr(f"sum({thing}(id))").collect()
            print(f"did {thing}", flush=True)
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
