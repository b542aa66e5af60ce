"""The Java jobs beside this file, compiled against pyspark's own jars and run by `emberscope run`."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.jvm import toolchain


def jar_of_jobs(folder: Path) -> Path:
    """A jar of the classes in this directory, made in `folder`."""
    classes, jar = folder / "classes", folder / "cpu-jobs.jar"
    path = toolchain.spark_home() / "jars"
    programs = toolchain.sources(Path(__file__).parent)
    toolchain.javac("-nowarn", "-encoding", "UTF-8", "-cp", f"{path}/*", "-d", classes, *programs)
    with zipfile.ZipFile(jar, "w") as members:
        for file in sorted(classes.rglob("*.class")):
            members.write(file, file.relative_to(classes))
    return jar


def record(
    program: str,
    arguments: Sequence[str],
    *,
    jar: Path,
    java_home: Path,
    store: Path,
    conf: Mapping[str, str],
    timeout_s: float,
) -> tuple[Path, str]:
    """Runs a class of the jar on local[2]. Returns its run in the store, and what it printed.

    Raises `RuntimeError`, with the end of its standard error, where it fails.
    """
    settings = {"spark.ui.enabled": "false", "spark.log.level": "WARN", **conf}
    command = [str(Path(sys.executable).with_name("emberscope")), "run", "--store", str(store), "--"]
    command += [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]", "--driver-memory", "1g"]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += ["--class", program, str(jar), *arguments]
    surroundings = os.environ | {
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(toolchain.spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings, timeout=timeout_s)
    if done.returncode:
        raise RuntimeError(f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    return run_in(store), done.stdout


def run_in(store: Path) -> Path:
    """The newest run of a store."""
    return max(store.glob("*/*/*/run.json"), key=lambda path: path.stat().st_mtime).parent
