"""Facts of logs."""

from __future__ import annotations

from emberscope.report.summary import summarized, summary_document, summary_text
from emberscope.sources.logs import run_of_text

TEXT = (
    "18/05/16 00:53:30 INFO SparkContext: Running Spark version 2.3.0\n"
    + "18/05/16 00:53:31 WARN Utils: Service 'SparkUI' could not bind on port 4040. Attempting port 4041.\n" * 3
    + "18/05/16 00:53:35 ERROR Utils: Aborting task\n"
)


def test_the_facts_of_a_log_are_counts_and_its_commonest_words() -> None:
    document = summary_document([summarized("container_log", run_of_text(TEXT, path="driver.log"))])

    (log,) = document["logs"]
    assert (log["lines"], log["spark_version"]) == (5, "2.3.0")
    assert log["records"] == {"ERROR": 1, "WARN": 3, "INFO": 1}
    assert log["commonest"][0][1:] == ["WARN", 3]
    assert (log["first_ms"], log["last_ms"]) == (1526432010000, 1526432015000)
    said = summary_text(document)
    assert "1 ERROR, 3 WARN" in said
    assert "2018-05-16 00:53:30" in said
