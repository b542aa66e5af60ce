"""`emberscope run` around real Spark applications."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.sources.run import load_run

JOB = Path(__file__).parents[1] / "jobs/tiny_job.py"
BIN = Path(sys.executable).parent
PYTHON = [sys.executable, str(JOB)]
SUBMIT = ["spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", str(JOB)]

pytestmark = pytest.mark.spark


@pytest.fixture
def environment(tmp_path):
    """A user with a configuration of their own: a listener in `spark.jars`, options, and their own event log."""
    conf, logs = tmp_path / "conf", tmp_path / "their logs"
    conf.mkdir()
    logs.mkdir()
    (conf / "spark-defaults.conf").write_text(
        "spark.master local[2]\nspark.ui.enabled false\nspark.driver.extraJavaOptions -Dtheir.option=1\n"
        f"spark.eventLog.enabled true\nspark.eventLog.dir {logs.as_uri()}\n"
    )
    return {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(conf),
        "PYSPARK_PYTHON": sys.executable,
    }


def recorded(store, command):
    return [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(store), "--", *command]


def run_of(store):
    """The one run of a store and its `run.json`."""
    (path,) = store.glob("*/*/*/run.json")
    return path.parent, json.loads(path.read_text())


def whole(run, capsys):
    """The summary of a run that must be readable."""
    assert exit_code(["summary", str(run), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def the_page_tells_what_the_tables_hold(run):
    page = (run / "report.html").read_text(encoding="utf-8")
    facts = json.loads(re.search(r'id="emberscope-run">(.*?)</script>', page, flags=re.S)[1])
    loaded = load_run(str(run))
    tables, samples = loaded.tables, Counter()
    for event, count in zip(*(tables["samples"][name].to_pylist() for name in ("event", "count")), strict=True):
        samples[event] += count
    assert facts["samples"] == dict(samples)
    assert facts["app"]["duration_ms"] == loaded.application.duration_ms
    assert facts["app"]["tasks"]["total"] == tables["tasks"].num_rows
    run_time_ms = sum(tables["tasks"]["executor_run_time_ms"].to_pylist())
    assert (
        facts["app"]["totals"]["executor_run_time_ms"] == sum(row["task_ms"] for row in facts["stages"]) == run_time_ms
    )
    for bar in ("story", "waterfall"):
        assert sum(part["wall_ms"] for part in facts[bar]) == loaded.application.duration_ms
    assert facts["hotspots"]["weight"] == samples[facts["hotspots"]["event"]]


def test_a_failing_spark_submit_prints_and_ends_as_without_us(tmp_path, environment, capsys):
    del environment["SPARK_CONF_DIR"]
    bare = subprocess.run([*SUBMIT, "exit", "7"], env=environment, capture_output=True, check=False)
    ours = subprocess.run(
        recorded(tmp_path / "store", [*SUBMIT, "exit", "7"]), env=environment, capture_output=True, check=False
    )
    assert (ours.returncode, ours.stdout) == (bare.returncode, bare.stdout)
    assert ours.returncode == 7
    run, document = run_of(tmp_path / "store")
    assert document["exit_code"] == 7
    assert document["app_name"] == "tiny"
    the_page_tells_what_the_tables_hold(run)
    assert f"run:    {run}" in ours.stderr.decode()
    assert not (tmp_path / "store/.incoming").exists()
    summary = whole(run, capsys)
    assert summary["apps"][0]["complete"]
    assert summary["apps"][0]["jobs_succeeded"] == summary["apps"][0]["jobs"]
    assert summary["run"]["executors"][0]["lost_ms"] == 0
    assert [stage["attributed_samples"] for stage in summary["run"]["stages"]]


def test_an_interrupted_python_job_leaves_a_whole_run(tmp_path, environment, capsys):
    ends = []
    for command in ([*PYTHON, "wait"], recorded(tmp_path / "store", [*PYTHON, "wait"])):
        with subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            first = process.stdout.readline()
            os.killpg(process.pid, signal.SIGINT)
            rest, _ = process.communicate()
            ends.append(
                (first + rest, process.returncode % 256 if process.returncode >= 0 else 128 - process.returncode)
            )
    assert ends[0] == ends[1]
    assert ends[1] == (b"total 299995\n", 130)
    run, document = run_of(tmp_path / "store")
    assert document["exit_code"] == 130
    summary = whole(run, capsys)
    assert summary["apps"][0]["jobs"] > 0
    assert summary["apps"][0]["jobs_unfinished"] == 0
    assert summary["recordings"]
    # Their own event log stays where it was, and their option holds.
    assert (tmp_path / "their logs" / f"eventlog_v2_{document['app_id']}").is_dir()
    assert "-Dtheir.option=1" in document["configuration"]["spark.driver.extraJavaOptions"]


def test_code_that_sets_the_plugins_itself_wins_and_is_told(tmp_path, environment):
    done = subprocess.run(
        recorded(tmp_path / "store", [*PYTHON, "plugins"]), env=environment, capture_output=True, check=True
    )
    assert done.stdout == b"total 299995\n"
    said = " ".join(done.stderr.decode().split())
    assert "the application sets spark.plugins itself. Add io.emberscope.EmberscopePlugin to that value." in said
    run, document = run_of(tmp_path / "store")
    assert document["configuration"]["spark.plugins"] == ""
    assert [note["code"] for note in document["coverage"]["notes"]] == ["not_recorded"]
    assert not document["coverage"]["complete"]
    assert (run / "findings.json").exists()


def test_code_that_sets_the_jars_itself_still_gets_its_executors(tmp_path, environment, capsys):
    # Without our jar on the list an executor would not find the plugin, and not start: the job would hang.
    with zipfile.ZipFile(tmp_path / "theirs.jar", "w") as theirs:
        theirs.writestr("hello", "there")
    command = ["spark-submit", "--master", "local-cluster[1,1,1024]", str(JOB), "jars", str(tmp_path / "theirs.jar")]
    done = subprocess.run(
        recorded(tmp_path / "store", command), env=environment, capture_output=True, check=True, timeout=300
    )
    assert done.stdout == b"total 299995\n"
    run, document = run_of(tmp_path / "store")
    assert [(executor["id"], executor["lost_ms"]) for executor in document["executors"]] == [("0", 0), ("driver", 0)]
    found = whole(run, capsys)["run"]
    assert found["attributed_samples"] == found["task_samples"] > 0
