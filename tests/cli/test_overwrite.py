"""No verb writes over its own input, by whatever name the output is called."""

import os
import shutil

import pytest

from emberscope.cli.main import exit_code
from tests.sources.stored import APP_ID, DATA, LOG, whole_run

JFR = DATA / "jfr/workload-jdk17.jfr.gz"
ROLLING = next((DATA / "eventlog/spark-4.3").iterdir())


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The current directory: a log, a recording, a rolling log, a store, and other names of the log."""
    shutil.copy(LOG, tmp_path / "log")
    shutil.copy(JFR, tmp_path / "x.jfr")
    shutil.copytree(ROLLING, tmp_path / "rolling")
    os.symlink("log", tmp_path / "symbolic")
    os.link(tmp_path / "log", tmp_path / "hard")
    whole_run(tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(root):
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


RUN = f"store/default/{APP_ID}/1"
PART = sorted(ROLLING.iterdir())[-1].name


@pytest.mark.parametrize(
    "line",
    [
        "report log -o log",
        "diagnose log -o log",
        "diagnose log --json -o ./log",
        "diagnose log -o symbolic",
        "diagnose symbolic -o log",
        "report log -o hard",
        "diagnose x.jfr log -o log",
        "flame x.jfr --format html -o x.jfr",
        "flame x.jfr --format folded -o x.jfr",
        f"diagnose rolling --format md -o rolling/{PART}",
        f"diagnose {RUN} -o {RUN}/run.json",
        f"diagnose {RUN} -o {RUN}/application.json",
        f"report store -o {RUN}/eventlog/{APP_ID}",
        f"flame store --format json -o {RUN}/recordings/executor-0/1796027884872-000000.jfr",
        f"report store --format html -o {RUN}/recordings/executor-0/1796027884872-000000.json",
        "diagnose . --format text -o x.jfr",
        f"run --store store --report {RUN}/application.json -- touch started",
        "run --store other --report log -- cat log",
    ],
)
def test_an_input_is_never_the_output(line, files, capsys):
    (files / RUN / "run.json").write_text("{}")
    before = contents(files)
    assert exit_code(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "is an input, and would be overwritten" in err
    assert contents(files) == before


def test_what_was_written_before_may_be_written_again(files):
    for _ in range(2):
        assert exit_code(["report", "store", "-o", f"{RUN}/report.html"]) == 0
        assert exit_code(["diagnose", "store", "--json", "-o", f"{RUN}/findings.json"]) == 0
        assert exit_code(["diagnose", "log", "-o", "ticket.txt"]) == 0
