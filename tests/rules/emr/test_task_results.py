from __future__ import annotations

from dataclasses import replace

from emberscope.rules.base import Finding
from emberscope.rules.emr.task_results import RULE
from emberscope.tables.run import Run
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found, run_of, task

# AWS EMR guide, 5.2.2
LIMIT = (
    "22/08/22 14:14:24 ERROR FileFormatWriter: Aborting job f6913a46. org.apache.spark.SparkException: Job aborted due "
    "to stage failure: Total size of serialized results of 179502 tasks (1024.0 MB) is bigger than "
    "spark.driver.maxResultSize (1024.0 MB)"
)
TASK = "22/09/06 22:24:18 INFO Executor: Finished task 0.0 in stage 3.0 (TID 3). 5192 bytes result sent to driver"


def log(text: str, **facts: str) -> Run:
    return run_of_log(text, rules=[RULE], **facts)


def findings(text: str) -> list[Finding]:
    return found(RULE, log(text))


def test_the_example_of_the_guide_with_both_of_its_figures() -> None:
    (finding,) = findings(f"{LIMIT}\n{TASK}")
    assert "179,502 tasks" in finding.title
    said = [evidence.text for evidence in finding.evidence]
    assert any("5,192 bytes, × 179,502 = 889 MiB" in text and "5,982 bytes for each" in text for text in said)
    advice = {one.setting: one.value for one in finding.advice}
    assert advice["spark.driver.maxResultSize"] == "2g"
    assert "spark.sql.files.minPartitionNum" in finding.advice[0].text


def test_the_setting_of_old_versions() -> None:
    (finding,) = found(RULE, log(LIMIT, spark_version="2.4.8"))
    assert "spark.default.parallelism" in finding.advice[0].text
    assert "minPartitionNum" not in finding.advice[0].text


def test_the_event_log_says_what_a_task_really_sent() -> None:
    tasks = run_of(tasks=[task(0, 0, 10, result_size_bytes=5_982) for _ in range(3)]).tables["tasks"]
    run = log(LIMIT)
    (finding,) = found(RULE, replace(run, tables={**run.tables, "tasks": tasks}))
    assert any(evidence.source == "tasks.result_size_bytes" for evidence in finding.evidence)


def test_data_that_is_collected_is_another_trouble() -> None:
    few = LIMIT.replace("179502", "63")  # 16 MiB each
    assert findings(few) == []
    assert findings(LIMIT.replace("179502", "2500")) == []  # 430 KB each


def test_results_of_a_healthy_stage_are_none() -> None:
    assert findings(TASK) == []


def test_the_limit_without_a_collect_in_plain_words() -> None:
    text = "We get more than spark.driver.maxResultSize (1024.0 MB) but the job does not collect data to the driver."
    (finding,) = found(RULE, run_of_words(text, rules=[RULE]))
    assert "though nothing is collected" in finding.title
