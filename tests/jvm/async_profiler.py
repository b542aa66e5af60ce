"""async-profiler itself, for tests of the recorder's use of it: fetched by Maven where it is not there yet."""

import shutil
import subprocess
import zipfile
from functools import cache
from pathlib import Path

import pytest

VERSION = "4.5"
ARTIFACT = f"tools.profiler:async-profiler:{VERSION}"


@cache
def jar() -> Path:
    """Its jar. Skips the test where it cannot be had: no Maven, no registry, another operating system."""
    found = Path.home() / f".m2/repository/tools/profiler/async-profiler/{VERSION}/async-profiler-{VERSION}.jar"
    if not found.is_file():
        if shutil.which("mvn") is None:
            pytest.skip("async-profiler is not there, and neither is Maven to fetch it")
        command = ["mvn", "-q", "dependency:get", "-Dtransitive=false", f"-Dartifact={ARTIFACT}"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if ran.returncode or not found.is_file():
            pytest.skip(f"async-profiler cannot be fetched: {ran.stdout[-200:]}")
    return found


def library(directory: Path) -> Path:
    """Its library for this machine, taken out of the jar."""
    machine = "arm64" if "aarch64" in subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout else "x64"
    with zipfile.ZipFile(jar()) as archive:
        return Path(archive.extract(f"linux-{machine}/libasyncProfiler.so", directory))
