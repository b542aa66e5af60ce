from __future__ import annotations

import pytest

from emberscope.rules.failures.mixed_versions import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# Messages of the JDK's ObjectStreamClass, of PySpark's worker and of py4j, as many reports on the web show them.
CASES = {
    "Driver and executors have different versions of Spark": (
        "java.io.InvalidClassException: org.apache.spark.rdd.RDD; local class incompatible: stream classdesc "
        "serialVersionUID = 1, local class serialVersionUID = 2"
    ),
    "Driver and executors have different versions of your jar": (
        "java.io.InvalidClassException: com.example.Row; local class incompatible: stream classdesc serialVersionUID = "
        "1, local class serialVersionUID = 2"
    ),
    "Executors cannot read the code of the tasks: SerializedLambda": (
        "java.lang.ClassCastException: cannot assign instance of java.lang.invoke.SerializedLambda to field "
        "org.apache.spark.rdd.MapPartitionsRDD.f of type scala.Function3 in instance of "
        "org.apache.spark.rdd.MapPartitionsRDD"
    ),
    "Python of the workers is another version than the driver's: 3.8 there, 3.11 here": (
        "RuntimeError: Exception: Python in worker has different version 3.8 than that in driver 3.11, PySpark "
        "cannot run with"
    ),
    "Python of the workers is another version than the driver's: 3.9 there, 3.12 here": (
        "PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in "
        "driver: 3.12"
    ),
    "PySpark and the Spark under it are different versions: getEncryptionEnabled": (
        "py4j.protocol.Py4JError: org.apache.spark.api.python.PythonUtils.getEncryptionEnabled does not exist in the "
        "JVM"
    ),
    "A class is not on the JVM's class path": "TypeError: 'JavaPackage' object is not callable",
}


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_says_which_versions_differ(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)
    assert finding.consequence == "ended"


def test_in_plain_words() -> None:
    words = "python version on the workers differs from the driver, how do I make them the same"
    (finding,) = found(RULE, run_of_words(words))
    assert "PYSPARK_PYTHON" in finding.summary


def test_silent_on_a_healthy_start() -> None:
    assert found(RULE, run_of_log("24/01/01 00:00:00 INFO SparkContext: Running Spark version 3.5.1")) == []
