"""`emberscope run` around a Spark application whose driver is killed."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from emberscope.sources.run import load_run

JOB = Path(__file__).parents[1] / "jobs/recorded_job.py"
TASKS_OF_THE_JOB = 10

pytestmark = pytest.mark.spark


def _driver(session: int) -> int:
    """The JVM that a command in this session has started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and os.getsid(int(entry.name)) == session:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
            if b"org.apache.spark.deploy.SparkSubmit" in arguments:
                return int(entry.name)
    raise AssertionError("no driver")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the driver in /proc")
def test_what_a_killed_driver_recorded_is_in_its_run(tmp_path):
    spool = tmp_path / "spool"
    settings = {"spark.ui.enabled": "false", "spark.emberscope.spool": str(spool)}
    command = [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(tmp_path / "runs")]
    command += ["--chunk-seconds", "600", "--", "spark-submit", "--master", "local[2,2]"]
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    errors = (tmp_path / "stderr").open("w+")
    with (
        errors,
        subprocess.Popen(
            [*command, str(JOB), "wait"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        said = ""
        while not said.endswith("waiting\n"):
            line = process.stdout.readline()
            assert line, (tmp_path / "stderr").read_text()
            said += line
        # Flight Recorder writes its open chunk about every second.
        before = _size(spool)
        while _size(spool) == before:
            assert process.poll() is None
        os.kill(_driver(process.pid), signal.SIGKILL)
        process.communicate(timeout=240)
    (path,) = (tmp_path / "runs").glob("*/*/*/run.json")
    run = load_run(str(path.parent))
    tasks = {span["task_id"] for span in run.tables["spans"].to_pylist()}
    assert tasks == set(run.tables["tasks"]["task_id"].to_pylist())
    assert len(tasks) > TASKS_OF_THE_JOB
    lost = [note for note in run.coverage.notes if note.code == "executor_lost"]
    assert [note.where for note in lost] == ["driver"], "told, and told once"
    (row,) = json.loads(path.read_text())["executors"]
    assert row["id"] == "driver"
    assert row["recorded_ms"] > row["lost_ms"]
    assert not list(spool.glob("*/process-*"))


def _size(spool):
    """Of the open chunk, as its header has it."""
    sizes = []
    for path in spool.rglob("*.jfr"):
        with suppress(FileNotFoundError):  # a chunk that was shipped meanwhile
            sizes.append(int.from_bytes(path.read_bytes()[8:16], "big"))
    return max(sizes, default=0)
