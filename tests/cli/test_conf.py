import json
import shlex

import pytest

from emberscope.cli.main import exit_code
from emberscope.recorder import properties
from emberscope.recorder.submit_arguments import settings

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


def test_json_has_them_as_they_are(capsys):
    words = ["--store", "s3a://b/my runs", "--jar", "s3a://b/e.jar", "--chunk-seconds", "10", "--json"]
    assert exit_code(["conf", *words]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == WANTED


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
