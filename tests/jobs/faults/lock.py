"""All tasks of an executor ask one shared client whose method is synchronized, so that one of four works at a time.

The twin asks in the same way without a lock. The rule reads recordings: run the job by `emberscope run`. The Java class
beside this file is compiled when the job starts, which needs a JDK.
"""

import subprocess
import tempfile
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession
from tests.jobs.faults import scaled

CODE = "S12"
MASTER = "local-cluster[1,4,1024]"
CONF = {"spark.executor.memory": "1g", "spark.executor.cores": "4"}


def work(spark: SparkSession, healthy: bool) -> None:
    rows = scaled(1000)
    with tempfile.TemporaryDirectory() as folder:
        spark.sql(f"ADD JAR '{_jar(spark, Path(folder))}'").collect()
        spark.udf.registerJavaFunction("rate", f"app.Rates${'Free' if healthy else 'Locked'}", "double")
        spark.range(0, rows, 1, 4).selectExpr("sum(rate(id))").collect()


def _jar(spark: SparkSession, folder: Path) -> Path:
    """A jar of the classes in Rates.java, compiled against what the driver runs on."""
    classes, jar = folder / "classes", folder / "rates.jar"
    libraries = spark.sparkContext._jvm.java.lang.System.getProperty("java.class.path")
    source = Path(__file__).with_name("Rates.java")
    subprocess.run(["javac", "-nowarn", "-cp", libraries, "-d", str(classes), str(source)], check=True)
    with zipfile.ZipFile(jar, "w") as members:
        for path in sorted(classes.rglob("*.class")):
            members.write(path, path.relative_to(classes))
    return jar
