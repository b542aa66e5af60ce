"""What is handed on says nothing of whose it is, and still tells why the job was slow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.report.diagnosis import diagnose
from emberscope.report.markdown import report_markdown
from emberscope.report.page import report_page
from emberscope.report.pseudonyms import Pseudonyms
from emberscope.report.redaction import redacted
from emberscope.report.terminal import report_terminal
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run
from tests.runs import executor, job, run_of, spark_wrote, stage, task

SECRETS = (
    "acme-ledger",
    "node7.acme.internal",
    "10.1.2.3",
    "jdoe",
    "/home/jdoe/jobs",
    "s3a://acme-data/2026",
    "Bob Smith",
    "4711",
    "jdoe@acme.com",
    "tenant-42",
)


def private() -> Run:
    run = run_of(
        tasks=[
            task(0, 0, 30_000 if i == 0 else 100, task_id=i, host="node7.acme.internal" if i else "10.1.2.3")
            for i in range(5)
        ],
        stages=[stage(0, 0, 30_000, name="collect at /home/jdoe/jobs/daily.py:23", description="for jdoe@acme.com")],
        jobs=[job(0, 0, 30_000, sql_execution_id=1, call_site="collect at /home/jdoe/jobs/daily.py:23")],
        sql_executions=[
            {
                "sql_execution_id": 1,
                "description": "SELECT * FROM ledger WHERE name = 'Bob Smith' AND id > 4711",
                "physical_plan": "FileScan parquet s3a://acme-data/2026/x.parquet",
            }
        ],
        plan_nodes=[
            {
                "sql_execution_id": 1,
                "node_id": 0,
                "name": "Filter",
                "detail": "Filter ((name#3 = Bob Smith) AND (id#4L > 4711))",
                "stage_ids": [0],
            }
        ],
        executors=[executor("1", 2) | {"host": "node7.acme.internal"}],
        conf={
            "spark.app.name": "acme-ledger",
            "spark.eventLog.dir": "hdfs://node7.acme.internal:8020/user/jdoe/logs",
            "spark.acme.customer": "tenant-42",
            "spark.kubernetes.namespace": "tenant-42",
            "spark.sql.shuffle.partitions": "200",
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.executor.memory": "8g",
            "spark.sql.warehouse.dir": "s3a://acme-data/2026",
        },
        coverage=Coverage((Note("cut", "The log of jdoe on node7.acme.internal ends early.", "/home/jdoe/jobs/log"),)),
    )
    application = replace(
        run.application, app_name="acme-ledger", user="jdoe", master="spark://node7.acme.internal:7077"
    )
    return replace(run, application=application, path="/home/jdoe/jobs/run")


def test_nothing_private_is_left_in_any_form_of_the_report() -> None:
    item = diagnose(redacted(private()))
    for text in (report_page(item, redacted=True), report_markdown(item), report_terminal(item)):
        assert [secret for secret in SECRETS if secret in text] == []
        assert "Names are redacted." in text.replace("\n", " ")
    before = report_page(diagnose(private()))
    assert [secret for secret in SECRETS if secret not in before] == []


def test_what_a_diagnosis_rests_on_stays() -> None:
    page = report_page(diagnose(redacted(private())), redacted=True)
    for words in (
        "Redacted:",
        "host-1",
        "user-1",
        "daily.py:23",
        "Stage 0",
        "org.apache.spark.serializer.KryoSerializer",
        "8g",
        "spark.acme.customer",
    ):
        assert words in page


def test_findings_are_the_same_but_for_names() -> None:
    run = spark_wrote("skew_spill_python")
    before, after = diagnose(run), diagnose(redacted(run))
    assert [one.rule.code for one in after.diagnosis.findings] == [one.rule.code for one in before.diagnosis.findings]
    assert after.waterfall == before.waterfall
    assert [note.code for note in after.run.coverage.notes] == ["redacted"]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("read s3a://bucket/key/x.parquet twice", "read s3a://path-1.parquet twice"),
        ("at /a/b/app.py:3", "at path-1/app.py:3"),
        ("http://node1:4040/jobs", "http://host-1:4040/path-1"),
        ("lost 10.0.0.1 and ip-10-0-0-2.ec2.internal, 10.0.0.1 again", "lost host-2 and host-1, host-2 again"),
        (r"C:\Users\me\x.csv", "path-1.csv"),
        ("mail me@here.org", "mail user-1"),
        ("jdbc:oracle:thin:@db:1521/x, next", "path-1, next"),
        ("Java 17.0.15 on localhost, 3 of 4 cores, a/b", "Java 17.0.15 on localhost, 3 of 4 cores, a/b"),
    ],
)
def test_texts(text: str, clean: str) -> None:
    assert Pseudonyms().text(text) == clean


@pytest.mark.parametrize(
    ("plan", "clean"),
    [
        ("Filter (isnotnull(a#1) AND (a#1 = New York))", "Filter (isnotnull(a#1) AND (a#1 = ?))"),
        ("Filter (a#1 = b#2)", "Filter (a#1 = b#2)"),
        ("Filter a#1 IN (x,y,z)", "Filter a#1 IN (?)"),
        ("PushedFilters: [EqualTo(city,New York)]", "PushedFilters: [EqualTo(city,?)]"),
        ("Filter StartsWith(a#1, Bob)", "Filter StartsWith(a#1,?)"),
        ("Project [Bob AS who#5, a#1, upper(a#1) AS b#6]", "Project [? AS who#5, a#1, upper(a#1) AS b#6]"),
        ("Exchange hashpartitioning(a#1, 200)", "Exchange hashpartitioning(a#1, 200)"),
        ("Filter (a#1 > '2026-01-01')", "Filter (a#1 > ?)"),
    ],
)
def test_plans_lose_their_literals(plan: str, clean: str) -> None:
    assert Pseudonyms().plan(plan) == clean


def test_statements_lose_numbers_and_descriptions_keep_them() -> None:
    names = Pseudonyms()
    assert names.statement('select a1, 5 from t where x = "y" limit 10') == "select a1, ? from t where x = ? limit ?"
    assert names.statement("step 3 of 'daily'") == "step 3 of ?"
