"""Runs the hostile job by `emberscope run` in a place of one's own making: mounts, user, options of the JVM."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.jvm.toolchain import ROOT

JOB = ROOT / "tests" / "jobs" / "hostile_job.py"
OUTPUT = "groups 10\nrows 2000000\n"
CODE = 3


@dataclass(frozen=True)
class Ended:
    """What is left: `run` is the document run.json, empty where there is none."""

    code: int
    out: str
    err: str
    run: dict[str, Any]
    store: Path

    @property
    def said(self) -> list[str]:
        """What the coverage says of the recorder's troubles."""
        notes = self.run["coverage"]["notes"]
        return [note["message"] for note in notes if note["code"] in ("limited", "not_recorded", "sampled")]

    @property
    def closing(self) -> str:
        """The lines after the job, as one text."""
        return " ".join(self.err.partition("\nemberscope:\n")[2].split())


def run(
    store: Path,
    *arguments: str | Path,
    conf: dict[str, str] | None = None,
    java: str = "",
    before: str = "",
    prefix: list[str] | None = None,
    environment: dict[str, str] | None = None,
    recorder: bool = True,
) -> Ended:
    """`before`: lines of shell in a mount namespace of their own, as root; `prefix`: words before the command.

    Skips the test where such a thing is not permitted.
    """
    bin_directory = Path(sys.executable).parent
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", **(conf or {})}
    command = [str(bin_directory / "spark-submit"), "--master", "local[2]"]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    if java:
        command += ["--driver-java-options", java]
    command += [str(JOB), *map(str, arguments)]
    if recorder:
        command = [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(store), "--", *command]
    command = [*(prefix or []), *command]
    if before:
        may = subprocess.run(["unshare", "-m", "sh", "-ec", before], capture_output=True, text=True)
        if may.returncode != 0:
            pytest.skip(f"not permitted here: {may.stderr.strip()}")
        command = ["unshare", "-m", "sh", "-ec", f"{before}\nexec {shlex.join(command)}"]
    surroundings = os.environ | {
        "PATH": f"{bin_directory}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        **(environment or {}),
    }
    surroundings.pop("SPARK_HOME", None)
    ended = subprocess.run(command, capture_output=True, text=True, env=surroundings, timeout=400)
    documents = list(store.rglob("run.json")) if store.is_dir() else []
    return Ended(
        ended.returncode,
        ended.stdout,
        ended.stderr,
        json.loads(documents[0].read_text()) if documents else {},
        store,
    )
