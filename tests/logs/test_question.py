from __future__ import annotations

import pytest

from emberscope.logs.question import assumptions, read_question, settings_in
from emberscope.logs.signature import Signature

HEAP = Signature(
    "heap",
    r"OutOfMemoryError: (?P<what>Java heap space|GC overhead limit exceeded)",
    ("OutOfMemoryError",),
    (("out of (?P<memory>memory|heap)", r"executors?"), ("heap", "full")),
)


def test_lines_of_logs_come_before_words() -> None:
    line = "java.lang.OutOfMemoryError: Java heap space"
    text = f"Executors run out of memory:\n\n{line}\nagain {line}"
    (found,) = read_question(text, [HEAP]).found
    assert (found.fields, found.line, found.count, found.by_words) == ({"what": "Java heap space"}, 3, 2, False)


def test_words_need_all_their_parts_in_any_order_and_case() -> None:
    (found,) = read_question("Hi,\nTwo Executors went Out Of Memory", [HEAP]).found
    assert (found.fields, found.line, found.by_words) == ({"memory": "Memory"}, 2, True)
    assert read_question("out of memory, says the driver", [HEAP]).found == ()
    assert read_question("The heap of my driver is full", [HEAP]).found[0].fields == {}


def test_settings_are_found_however_they_are_written() -> None:
    text = (
        'spark-submit --conf spark.executor.memory=8g --conf "spark.executor.extraJavaOptions=-XX:+UseG1GC -Xss4m" \\\n'
        "  --conf 'spark.app.name=my job' job.py\n"
        "spark.sql.shuffle.partitions 200\n"
        "I set `spark.driver.maxResultSize: 2g`, and yarn.nodemanager.vmem-check-enabled = false.\n"
        '{"spark.yarn.executor.memoryOverhead": "2048"}\n'
        "spark.executor.memory=1g"
    )
    assert settings_in(text) == {
        "spark.executor.memory": "8g",
        "spark.executor.extraJavaOptions": "-XX:+UseG1GC -Xss4m",
        "spark.app.name": "my job",
        "spark.sql.shuffle.partitions": "200",
        "spark.driver.maxResultSize": "2g",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "spark.yarn.executor.memoryOverhead": "2048",
    }


def test_prose_about_settings_sets_nothing() -> None:
    assert settings_in("What does spark.sql.shuffle.partitions do? See spark.apache.org for more.") == {}
    assert settings_in("at org.apache.spark.rdd.RDD.iterator(RDD.scala:1)") == {}


@pytest.mark.parametrize(
    ("text", "version", "vendor", "master"),
    [
        ("Structured Streaming on MSK, Spark 2.4 (EMR 5.36)", "2.4", "emr", "yarn"),
        ("pyspark==3.5.1 on k8s", "3.5.1", None, "k8s"),
        ("Databricks runtime 11.3, spark version: 3.3.0", "3.3.0", "databricks", None),
        ("Lost executor driver on localhost", None, None, "local"),
        ("Spark 12 executors", None, None, None),
        ("spark://host:7077", None, None, "spark://"),
    ],
)
def test_versions_and_places(text: str, version: str | None, vendor: str | None, master: str | None) -> None:
    question = read_question(text, ())
    assert (question.spark_version, question.vendor, question.master) == (version, vendor, master)


def test_what_is_assumed_is_said() -> None:
    said = " ".join(assumptions(read_question("Why is it slow?", ())))
    assert "plain words" in said
    assert "No version" in said
    assert "2.4" in " ".join(assumptions(read_question("Spark 2.4 with spark.executor.cores=4", ())))
