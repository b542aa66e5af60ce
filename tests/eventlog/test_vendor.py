"""The shapes in which vendors keep logs.

The events are real, those of Spark 3.5 and of RAPIDS; what is arranged here are the version, a setting or two, and the
names of files and folders, by the vendors' documentation.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.eventlog.facts import facts
from emberscope.eventlog.read import read_event_log
from emberscope.eventlog.vendor import vendor_of
from tests.eventlog.logs import DATA, plain_text
from tests.sources.archives import APP_35, zipped

_TEXT = plain_text()
_REAL = read_event_log(str(DATA / "spark-3.5-app-20261130083809-0000.gz"))
_RAPIDS_EVENT = (DATA / "vendors" / "rapids-build-info.json").read_bytes()


def arranged(version: str | None = None, settings: dict[str, str] | None = None, text: bytes = _TEXT) -> bytes:
    """The real log with another version and more settings."""
    lines = []
    for line in text.splitlines(keepends=True):
        event = json.loads(line) if b"LogStart" in line[:40] or b"EnvironmentUpdate" in line[:60] else {}
        if version is not None and "Spark Version" in event:
            line = json.dumps(event | {"Spark Version": version}, separators=(",", ":")).encode() + b"\n"
        elif settings and "Spark Properties" in event:
            event["Spark Properties"] |= settings
            line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        lines.append(line)
    return b"".join(lines)


EMR = arranged("3.5.1-amzn-1")
GLUE = arranged("3.3.0-amzn-1", {"spark.glue.JOB_NAME": "nightly", "spark.glue.JOB_RUN_ID": "jr_0a1b"})
DATAPROC = arranged(
    settings={"spark.dataproc.lineage.enabled": "true", "spark.eventLog.dir": "gs://b/phs/spark-job-history"}
)
SYNAPSE = arranged(settings={"spark.synapse.context.notebookname": "nightly"})
FABRIC = arranged(settings={"spark.synapse.vhd.name": "x", "spark.trident.pbienv": "prod"})
CLOUDERA = arranged(settings={"spark.eventLog.dir": "hdfs://ns1/user/spark/spark3ApplicationHistory"})
CLOUDERA_LINEAGE = arranged("2.4.7.7.1.7.0-551", {"spark.lineage.log.dir": "/var/log/spark/lineage"})
RAPIDS = arranged(settings={"spark.plugins": "com.nvidia.spark.SQLPlugin"}) + _RAPIDS_EVENT
_HALF = EMR.rfind(b"\n", 0, len(EMR) // 2) + 1

SHAPES: dict[str, tuple[str, dict[str, bytes]]] = {
    "EMR, being written": ("emr", {"var/log/spark/apps/application_1700000000000_0001.inprogress": EMR}),
    "EMR, the zip of its history server": (
        "emr",
        {"eventLogs.zip": zipped({"application_1700000000000_0001_1": EMR})},
    ),
    "EMR Serverless, and EMR on EKS": (
        "emr",
        {
            "logs/applications/00f1/jobs/00f2/sparklogs/eventlog_v2_00f2/events_0_00f2": EMR[:_HALF],
            "logs/applications/00f1/jobs/00f2/sparklogs/eventlog_v2_00f2/events_1_00f2": EMR[_HALF:],
            "logs/applications/00f1/jobs/00f2/sparklogs/eventlog_v2_00f2/appstatus_00f2": b"",
        },
    ),
    "Glue": ("glue", {"sparkui/nightly/jr_0a1b/spark-application-1700000000000.inprogress": GLUE}),
    "Glue, rolled": (
        "glue",
        {
            "jr_0a1b/eventlog_v2_spark-application-17/events_1_spark-application-17": GLUE[: GLUE.find(b"\n") + 1],
            "jr_0a1b/eventlog_v2_spark-application-17/events_2_spark-application-17": GLUE[GLUE.find(b"\n") + 1 :],
        },
    ),
    "Dataproc": ("dataproc", {"phs/3f2a-cluster/spark-job-history/application_1700000000000_0001": DATAPROC}),
    "Synapse, downloaded": ("synapse", {"download.zip": zipped({"eventLog/application_17_0001_1": SYNAPSE})}),
    "Fabric": ("fabric", {"eventLog/application_1700000000000_0001/eventlog": FABRIC}),
    "Cloudera, without an ending": ("cloudera", {"spark3ApplicationHistory/application_17_0001_1": CLOUDERA}),
    "Cloudera, with lineage": ("cloudera", {"spark2ApplicationHistory/application_17_0001": CLOUDERA_LINEAGE}),
    "RAPIDS": ("rapids", {"application_17_0001.gz": gzip.compress(RAPIDS)}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_vendor_s_log_is_found_and_has_the_tables_of_its_events(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendor, files = SHAPES[shape]
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert exit_code(["summary", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (app,) = document["apps"]
    assert (app["app_id"], app["vendor"]) == (APP_35, vendor)
    assert document["coverage"]["complete"]
    real = facts(_REAL)
    for name in ("tasks", "totals", "jobs", "stage_attempts", "sql_executions", "executors_added_distinct"):
        assert app[name] == real[name], name


def test_events_of_vendors_are_counted_and_passed_by(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(RAPIDS)
    run = read_event_log(str(path))
    assert run.application.event_counts["com.nvidia.spark.rapids.SparkRapidsBuildInfoEvent"] == 1
    assert run.application.malformed_lines == 0
    assert run.tables["tasks"] == _REAL.tables["tasks"]
    assert run.tables["stages"] == _REAL.tables["stages"]


@pytest.mark.parametrize(
    ("version", "vendor"),
    [
        ("3.5.9", None),
        ("4.3.0", None),
        ("3.3.0-amzn-0", "emr"),
        ("2.4.0-cdh6.3.2", "cloudera"),
        ("2.4.0.cloudera2", "cloudera"),
        ("3.3.2.3.3.7190.0-91", "cloudera"),
        ("4.0.0-preview1", None),
        ("3.5.1-SNAPSHOT", None),
        (None, None),
    ],
)
def test_versions_that_name_a_vendor(version: str | None, vendor: str | None) -> None:
    assert vendor_of(version, (), ("spark.master",), None, None) == vendor


def test_a_mark_of_databricks_is_enough_where_its_first_event_is_missing() -> None:
    keys = ("spark.databricks.clusterUsageTags.clusterId", "spark.plugins")
    assert vendor_of("3.1.1", (), keys, None, None) == "databricks"
    assert vendor_of(None, ("DBCEventLoggingListenerMetadata",), (), None, None) == "databricks"
    assert vendor_of("3.5.0", (), (), "hdfs:///spark2-history", None) is None  # of Hortonworks, and of others too
