"""Starts the recorded job under real Spark and gathers what the recorder left."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emberscope.jfr.recording import read_recording
from emberscope.recorder.settings import PLUGIN_CLASS
from tests.jvm.toolchain import JAR, ROOT, spark_home

JOB = ROOT / "tests" / "jobs" / "recorded_job.py"
OUTPUT = "groups 100\nsum 28\n"


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str
    status: dict[str, Any]
    store: Path
    log: Path
    manifests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def problems(self) -> dict[str, str]:
        return {problem["where"]: problem["message"] for problem in self.status["problems"]}

    def application(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(next(self.store.rglob("application.json")).read_text())
        return document

    def processes(self) -> dict[str, list[dict[str, Any]]]:
        """Manifests by process, in the order of their sequence."""
        out: dict[str, list[dict[str, Any]]] = {}
        for manifest in sorted(self.manifests, key=lambda each: each["sequence"]):
            out.setdefault(f"{manifest['role']}-{manifest['executor_id']}", []).append(manifest)
        return out

    def spans(self) -> list[dict[str, Any]]:
        chunks = sorted(self.store.rglob("*.jfr"))
        return [row for path in chunks for row in read_recording(path.read_bytes(), path.name).spans.to_pylist()]


def run(
    scratch: Path,
    *,
    end: str = "stop",
    job: Sequence[str | Path] = (),
    master: str = "local[2,2]",
    store: str | None = None,
    conf: dict[str, str] | None = None,
    interrupt: bool = False,
) -> Finished:
    """The recorded job up to this `end`, or another `job`: its file and arguments."""
    log = scratch / "log"
    log.mkdir()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.executor.memory": "512m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.plugins": PLUGIN_CLASS,
        "spark.emberscope.store": store or str(scratch / "store"),
        "spark.emberscope.status": str(scratch / "status.json"),
        **(conf or {}),
    }
    command = [str(Path(sys.executable).with_name("spark-submit")), "--master", master, "--jars", str(JAR)]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    surroundings = os.environ | {
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (scratch / "out").open("w+") as out, (scratch / "err").open("w+") as err:
        process = subprocess.Popen(
            [*command, *map(str, job or (JOB, end))],
            stdout=subprocess.PIPE if interrupt else out,
            stderr=err,
            env=surroundings,
            start_new_session=True,
            text=True,
        )
        said = ""
        if process.stdout is not None:
            while not said.endswith("waiting\n"):
                line = process.stdout.readline()
                assert line, err.read()
                said += line
            os.killpg(process.pid, signal.SIGINT)
            said += process.stdout.read()
            process.stdout.close()
        code = process.wait(timeout=240)
        for stream in (out, err):
            stream.seek(0)
        status = scratch / "status.json"
        return Finished(
            code,
            said or out.read(),
            err.read(),
            json.loads(status.read_text()) if status.exists() else {"problems": []},
            scratch / "store",
            log,
            [json.loads(path.read_text()) for path in (scratch / "store").rglob("recordings/*/*.json")],
        )
