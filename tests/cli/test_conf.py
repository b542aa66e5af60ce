import json
import shlex

import pytest

from emberscope.cli.main import exit_code
from emberscope.recorder import properties
from emberscope.recorder.submit_arguments import settings

WANTED = {
    "spark.plugins": "io.emberscope.EmberscopePlugin",
    "spark.jars": "s3a://b/e.jar",
    "spark.eventLog.enabled": "true",
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
