from __future__ import annotations

import pytest

from emberscope.logs.question import LONGEST_BYTES, assumptions, is_question, read_question, settings_in
from emberscope.logs.signature import Signature

HEAP = Signature(
    "heap",
    r"OutOfMemoryError: (?P<what>Java heap space|GC overhead limit exceeded)",
    ("OutOfMemoryError",),
    (("out of (?P<memory>memory|heap)", r"executors?"), ("heap", "full")),
)


@pytest.mark.parametrize(
    "text",
    [
        "My job dies with exit code 137, what can I do?",
        "why slow",
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n# 10K rows in few partitions",
        "Session 11 did not start up in 60 seconds.",
        "ERROR Client: Application diagnostics message: User application exited with status 1\nexitCode: 13",
        "Warum ist mein Spark-Job so langsam? Größe: 3 GB",
        "The job starts at 10:30 every day and ends at 11:00 with a warning.",
    ],
)
def test_what_people_type_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "18/05/16 00:53:32 WARN TaskSetManager: Lost task 1.3 in stage 0.0",
        "2023-08-03 16:19:37,019 - ERROR [dispatcher-Executor:o.a.s.i.Logging@98] - Executor self-exiting",
        "13:12:52 [INFO] [o.a.s.s.DAGScheduler:61] - ResultStage 1522",
        "[2022-05-16 21:21:03.582]Container exited with a non-zero exit code 1. INFO",
        "",
        "...",
        "42",
        "\x00\x01binary\x02\x03 with words",
        "word " * LONGEST_BYTES,
    ],
)
def test_logs_and_what_has_no_words_are_none(text: str) -> None:
    assert not is_question(text)


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
