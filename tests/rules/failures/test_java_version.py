from __future__ import annotations

import pytest

from emberscope.rules.failures.java_version import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# Messages of the JVM (JDK sources: ClassLoader, Reflection), of Spark and of Arrow, as questions on the trackers of
# apache/spark, delta-io/delta and apache/arrow show them.
CASES = {
    "too old": (
        'Exception in thread "main" java.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main has been '
        "compiled by a more recent version of the Java Runtime (class file version 61.0), this version of the Java "
        "Runtime only recognizes class file versions up to 52.0",
        "needs Java 17, but Java 8 runs it",
    ),
    "old words": (
        "java.lang.UnsupportedClassVersionError: com/example/Job : Unsupported major.minor version 52.0",
        "needs Java 8",
    ),
    "library too old": (
        "java.lang.IllegalArgumentException: Unsupported class file major version 65\n\tat "
        "org.apache.xbean.asm7.ClassReader.<init>(ClassReader.java:195)",
        "Java 21 is newer",
    ),
    "closed": (
        "java.lang.IllegalAccessError: class org.apache.spark.storage.StorageUtils$ (in unnamed module @0x1) cannot "
        "access class sun.nio.ch.DirectBuffer (in module java.base) because module java.base does not export "
        "sun.nio.ch to unnamed module @0x1",
        "sun.nio.ch.DirectBuffer is closed",
    ),
    "not open": (
        "java.lang.reflect.InaccessibleObjectException: Unable to make field private final byte[] "
        "java.lang.String.value "
        'accessible: module java.base does not "opens java.lang" to unnamed module @0x1',
        "java.lang is closed",
    ),
    "arrow": (
        "java.lang.UnsupportedOperationException: sun.misc.Unsafe or java.nio.DirectByteBuffer.<init>(long, int) not "
        "available",
        "Java is too new for this Spark, or lacks its options",
    ),
    "subject": (
        "java.lang.UnsupportedOperationException: getSubject is not supported\n\tat "
        "java.base/javax.security.auth.Subject.getSubject(Subject.java:277)",
        "Subject.getSubject",
    ),
    "gateway": (
        "pyspark.errors.exceptions.base.PySparkRuntimeError: [JAVA_GATEWAY_EXITED] Java gateway process exited "
        "before sending "
        "its port number.",
        "PySpark could not start Java",
    ),
    "option": (
        "Unrecognized VM option 'UseConcMarkSweepGC'\nError: Could not create the Java Virtual Machine.",
        "UseConcMarkSweepGC",
    ),
}


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_says_which_java(text: str, said: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert said in finding.title
    assert finding.consequence == "ended"


def test_knows_which_javas_this_spark_runs_on() -> None:
    text = CASES["subject"][0]
    (old,) = found(RULE, run_of_log(text, spark_version="3.2.1"))
    (new,) = found(RULE, run_of_log(text, spark_version="4.0.1"))
    assert "Java 8 or 11." in old.summary
    assert "Java 17 or 21." in new.summary


def test_silent_on_a_healthy_start() -> None:
    healthy = """\
WARNING: Using incubator modules: jdk.incubator.vector
24/01/01 00:00:00 INFO SparkContext: Running Spark version 3.5.1
24/01/01 00:00:00 INFO SparkContext: Java version 17.0.9
24/01/01 00:00:00 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform"""
    assert found(RULE, run_of_log(healthy)) == []
