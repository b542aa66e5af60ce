import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from emberscope.cli.conf import DIALECTS
from emberscope.cli.main import exit_code
from emberscope.recorder import properties
from emberscope.recorder.submit_arguments import settings
from emberscope.tuning import dialects
from tests.runs import FINDINGS

LOG = str(FINDINGS / "findings_skew_spill_python.zstd")

WANTED = {
    "spark.plugins": "io.emberscope.EmberscopePlugin",
    "spark.jars": "s3a://b/e.jar",
    "spark.emberscope.store": "s3a://b/my runs",
    "spark.emberscope.chunk.seconds": "10",
}


class Builder:
    """Takes what is pasted behind `SparkSession.builder`."""

    def __init__(self):
        self.got = {}

    def config(self, key, value):
        self.got[key] = value
        return self


def python(text):
    builder = Builder()
    exec(text, {"SparkSession": type("SparkSession", (), {"builder": builder})})
    return builder.got


@pytest.mark.parametrize(
    ("dialect", "read"),
    [
        ("spark-defaults", properties.parse),
        ("flags", lambda text: settings(shlex.split(text.replace("\\\n", " ")))),
        ("python", python),
    ],
)
def test_what_is_pasted_is_read_as_the_same_settings(dialect, read, capsys):
    words = ["--store", "s3a://b/my runs", "--jar", "s3a://b/e.jar", "--chunk-seconds", "10", "--dialect", dialect]
    assert exit_code(["conf", *words]) == 0
    assert read(capsys.readouterr().out) == WANTED


def test_the_verb_knows_every_dialect():
    assert tuple(dialects.DIALECTS) == DIALECTS


def test_json_has_them_as_they_are(capsys):
    words = ["--store", "s3a://b/my runs", "--jar", "s3a://b/e.jar", "--chunk-seconds", "10", "--json"]
    assert exit_code(["conf", *words]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == WANTED


def test_without_a_store_or_findings_there_is_nothing_to_print(capsys):
    assert exit_code(["conf"]) == 2
    assert "--from" in capsys.readouterr().err
    assert exit_code(["conf", "--from", LOG, "--store", "x"]) == 2
    assert exit_code(["conf", "--store", "x", "--app", "y"]) == 2


def test_a_document_and_its_log_give_the_same_patch(tmp_path, capsys):
    findings = tmp_path / "findings.json"
    assert exit_code(["diagnose", LOG, "--json", "-o", str(findings)]) == 0
    shown = []
    for source in (str(findings), LOG):
        assert exit_code(["conf", "--from", source, "--json"]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[0] == shown[1]
    assert shown[0]["schema"] == "emberscope.conf/1"
    assert "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" in shown[0]["settings"]
    for dialect in DIALECTS:
        assert exit_code(["conf", "--from", str(findings), "--dialect", dialect]) == 0
        assert "skewedPartitionThresholdInBytes" in capsys.readouterr().out
    assert exit_code(["conf", "--from", str(findings), "--app", "other"]) == 2
    assert "there is no such application" in capsys.readouterr().err


def test_findings_and_logs_come_through_a_pipe_too(tmp_path, capsys):
    assert exit_code(["diagnose", LOG, "--json", "-o", str(tmp_path / "findings.json")]) == 0
    assert exit_code(["conf", "--from", LOG]) == 0
    wanted = capsys.readouterr().out
    command = [sys.executable, "-m", "emberscope.cli.main", "conf", "--from", "-"]
    for text in ((tmp_path / "findings.json").read_bytes(), Path(LOG).read_bytes()):
        done = subprocess.run(command, input=text, capture_output=True, check=True)
        assert done.stdout.decode() == wanted
    for text in ((tmp_path / "findings.json").read_bytes()[:900], b"no log at all", b""):
        done = subprocess.run(command, input=text, capture_output=True, check=False)
        assert done.returncode == 3
        assert b"standard input" in done.stderr
        assert b"emberscope-stdin" not in done.stderr


def test_findings_of_several_applications_need_a_choice(tmp_path, capsys):
    findings = tmp_path / "findings.json"
    assert exit_code(["diagnose", LOG, "--json", "-o", str(findings)]) == 0
    document = json.loads(findings.read_text())
    other = {**document["patches"][0], "app_id": "app-2"}
    findings.write_text(json.dumps({**document, "patches": [*document["patches"], other]}))
    assert exit_code(["conf", "--from", str(findings)]) == 2
    assert "app-2" in capsys.readouterr().err
    assert exit_code(["conf", "--from", str(findings), "--app", "app-2"]) == 0


def test_a_run_without_advice_has_no_settings(capsys):
    assert exit_code(["conf", "--from", str(FINDINGS / "findings_none.zstd")]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "no change of settings" in err


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "emberscope.diagnose/1", "patches": [{"app_id": 1}]}',
        '{"schema": "emberscope.diagnose/1", "findings": []}',
        '{"schema": "emberscope.diagnose/1", "pat',
        '{"schema": "emberscope.diagnose/1", "patches": 3}',
        "no log at all",
    ],
)
def test_findings_that_cannot_be_read_are_said(text, tmp_path, capsys):
    (tmp_path / "findings.json").write_text(text)
    assert exit_code(["conf", "--from", str(tmp_path / "findings.json")]) == 3
    assert exit_code(["conf", "--from", str(tmp_path / "missing.json")]) == 3
    assert "Traceback" not in capsys.readouterr().err


def pasted(capsys, *words):
    assert exit_code(["conf", "--json", "--jar", "e.jar", *words]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)["settings"]
    return {name: found[name] for name in found if name.startswith(("spark.eventLog", "spark.emberscope"))}, err


def test_a_local_store_gets_a_directory_for_event_logs_that_is_there(tmp_path, monkeypatch, capsys):
    """Spark does not start where it is missing, and the job may be started from anywhere."""
    monkeypatch.chdir(tmp_path)
    for store in ("my runs", str(tmp_path / "my runs"), (tmp_path / "my runs").as_uri()):
        found, err = pasted(capsys, "--store", store)
        assert found["spark.eventLog.enabled"] == "true"
        assert found["spark.eventLog.dir"] == (tmp_path / "my runs/eventlogs").as_uri()
        assert found["spark.emberscope.store"] in (str(tmp_path / "my runs"), (tmp_path / "my runs").as_uri())
        assert (tmp_path / "my runs/eventlogs").is_dir()
        assert "which is there now" in err


def test_a_directory_that_cannot_be_made_is_said(tmp_path, capsys):
    (tmp_path / "file").touch()
    found, err = pasted(capsys, "--store", str(tmp_path / "file/store"))
    assert found["spark.eventLog.dir"].endswith("/file/store/eventlogs")
    assert "It could not be made here: Not a directory." in err


def test_elsewhere_no_log_is_switched_on_without_a_directory(capsys):
    found, err = pasted(capsys, "--store", "s3a://b/runs")
    assert found == {"spark.emberscope.store": "s3a://b/runs"}
    assert "--event-log-dir" in err
    found, err = pasted(capsys, "--store", "s3a://b/runs", "--event-log-dir", "hdfs:///logs")
    assert found["spark.eventLog.dir"] == "hdfs:///logs"
    assert "hdfs:///logs must be there" in err


def test_an_engine_is_brought_as_a_jar_or_named_where_it_lies(capsys):
    def engine(*words):
        assert exit_code(["conf", "--json", "--store", "s3a://b/runs", "--jar", "e.jar", *words]) == 0
        out, err = capsys.readouterr()
        found = json.loads(out)["settings"]
        return found["spark.jars"], {n: v for n, v in found.items() if n.startswith("spark.emberscope.engine")}, err

    chosen = {"spark.emberscope.engine": "async-profiler"}
    jars, named, err = engine("--engine", "async-profiler")
    assert (jars, named) == ("e.jar", chosen)
    assert "--packages tools.profiler:async-profiler:" in err
    jars, named, err = engine("--engine", "async-profiler", "--engine-path", "s3a://b/ap.jar")
    assert (jars, named) == ("e.jar,s3a://b/ap.jar", chosen)
    assert "--packages" not in err
    assert engine("--engine-path", "/opt/ap.jar")[:2] == (
        "e.jar,/opt/ap.jar",
        {"spark.emberscope.engine.path": "/opt/ap.jar"},
    )
    library = "/opt/libasyncProfiler.so"
    assert engine("--engine-path", library)[:2] == ("e.jar", {"spark.emberscope.engine.path": library})
    assert engine("--engine", "jfr")[:2] == ("e.jar", {"spark.emberscope.engine": "jfr"})
    assert exit_code(["conf", "--from", LOG, "--engine", "jfr"]) == 2


def test_the_jar_of_this_machine_is_said_to_be_of_this_machine(capsys):
    assert exit_code(["conf", "--store", "s3a://b/runs"]) == 0
    assert "name that with --jar" in capsys.readouterr().err
    assert exit_code(["conf", "--store", "s3a://b/runs", "--jar", "s3a://b/e.jar"]) == 0
    assert "--jar" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--chunk-seconds=5", "--group=g", "--engine=jfr", "--jar=/j.jar"])
def test_no_option_of_the_recorder_is_dropped_where_findings_are_asked_for(option, capsys):
    assert exit_code(["conf", "--from", LOG, option]) == 2
    assert option.partition("=")[0] in capsys.readouterr().err
