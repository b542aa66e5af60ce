from __future__ import annotations

import pytest

from emberscope.rules.failures.missing_class import RULE
from emberscope.rules.failures.packages import package_of, scala_of
from tests.rules.log_lines import run_of_log
from tests.runs import found

# As users show them on the trackers of apache/spark, delta-io/delta, apache/iceberg, apache/hudi and awslabs.
CASES = {
    "kafka": (
        "java.lang.ClassNotFoundException: Failed to find data source: kafka. Please find packages at "
        "http://spark.apache.org/third-party-projects.html",
        "Data source kafka is missing: spark-sql-kafka-0-10_2.12 brings it",
    ),
    "delta in Spark 4": (
        "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta. Make sure the provider name is correct "
        "SQLSTATE: 42K02",
        "Data source delta is missing: delta-spark",
    ),
    "s3a": (
        "java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem "
        "not found",
        "Class org.apache.hadoop.fs.s3a.S3AFileSystem is missing: hadoop-aws brings it",
    ),
    "scheme": (
        'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "abfss"',
        "File system abfss:// is missing: hadoop-azure brings it",
    ),
    "driver": (
        "java.sql.SQLException: No suitable driver\n\tat java.sql.DriverManager.getDriver(DriverManager.java:315)",
        "The JDBC driver is missing",
    ),
    "catalog": (
        "org.apache.spark.SparkException: Cannot find catalog plugin class for catalog 'spark_catalog': "
        "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "Class org.apache.spark.sql.delta.catalog.DeltaCatalog is missing: delta-spark",
    ),
    "own": (
        "java.lang.ClassNotFoundException: com.example.jobs.Nightly\n\tat "
        "java.net.URLClassLoader.findClass(URLClassLoader.java:382)",
        "Class com.example.jobs.Nightly is missing",
    ),
    "scala 2.13": (
        "java.lang.NoClassDefFoundError: scala/$less$colon$less",
        "A library was made for another Scala version",
    ),
    "scala 2.11": (
        "java.lang.NoClassDefFoundError: scala/Product$class\n\tat com.example.X.<init>(X.scala:5)",
        "A library was made for another Scala version",
    ),
    "method": (
        "java.lang.NoSuchMethodError: "
        "com.google.common.base.Preconditions.checkArgument(ZLjava/lang/String;Ljava/lang/Object;)V",
        "Class path conflict: Guava is on the class path in another version: Preconditions.checkArgument",
    ),
    "method as Java 11 and later print it": (
        "java.lang.NoSuchMethodError: 'void com.fasterxml.jackson.databind.ObjectMapper.x(java.lang.Class)'",
        "Class path conflict: Jackson is on the class path in another version",
    ),
    "Spark's own": (
        "java.lang.NoSuchMethodError: org.apache.spark.sql.catalyst.expressions.Alias.<init>(Lorg/apache/spark/X;)V",
        "Class path conflict: code made for another version of Spark",
    ),
    "echo": (
        "java.lang.NoClassDefFoundError: Could not initialize class org.xerial.snappy.Snappy",
        "Class org.xerial.snappy.Snappy could not be initialised",
    ),
    "main class": (
        "Error: Failed to load class com.example.Main.",
        "spark-submit cannot find the main class com.example.Main",
    ),
}


@pytest.mark.parametrize(("text", "title"), CASES.values(), ids=CASES)
def test_says_what_is_missing_and_what_brings_it(text: str, title: str) -> None:
    (finding,) = found(RULE, run_of_log(text, spark_version="3.5.1"))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_the_package_is_of_the_versions_that_run() -> None:
    (finding,) = found(RULE, run_of_log(CASES["kafka"][0], spark_version="4.0.1"))
    assert finding.advice[0].setting == "spark.jars.packages"
    assert finding.advice[0].value == "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.1"


def test_a_version_that_is_not_known_is_not_made_up() -> None:
    (finding,) = found(RULE, run_of_log(CASES["kafka"][0]))
    assert finding.advice[0].kind == "cluster"
    assert "<Spark's version>" in finding.advice[0].text


def test_one_class_is_one_finding_however_often_it_is_told() -> None:
    line = (
        "WARN TaskSetManager: Lost task 0.{} in stage 1.0 (TID {}, h, executor {}): "
        "java.lang.ClassNotFoundException: a.b.C"
    )
    text = "\n".join(f"24/01/01 00:00:0{i} " + line.format(i, i, i + 1) for i in range(4))
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.endswith("on executors 1, 2, 3, 4")


def test_packages_by_class_and_short_name() -> None:
    assert package_of("avro", "3.4.2") == "org.apache.spark:spark-avro_2.12:3.4.2"
    assert package_of("org.postgresql.Driver", None) == "org.postgresql:postgresql"
    assert package_of("com.example.X", "3.4.2") is None
    assert [scala_of(version) for version in ("2.4.8", "3.5.0", "4.0.0", None)] == ["2.11", "2.12", "2.13", "2.12"]


def test_a_warning_about_an_optional_class_is_a_hint_at_most() -> None:
    text = "24/01/01 00:00:00 WARN HiveConf: java.lang.ClassNotFoundException: org.apache.tez.Optional"
    assert [finding.consequence for finding in found(RULE, run_of_log(text))] == ["hint"]


def test_silent_on_healthy_lines() -> None:
    text = "24/01/01 00:00:00 INFO SparkContext: Added JAR file:/x/spark-sql-kafka-0-10_2.12-3.5.1.jar\n"
    assert found(RULE, run_of_log(text + "24/01/01 00:00:00 INFO Utils: Fetching class loader")) == []
