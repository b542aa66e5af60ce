"""Which Spark a command will start: its home, its version, its configuration."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emberscope.recorder.submit_arguments import PROGRAMS

OLDEST_WITH_PLUGINS: Final = (3, 0)
"""Spark's plugin API came with 3.0."""

_FIND_SECONDS: Final = 20
# Asked of the interpreter that will run the application; without importing pyspark, which takes a second.
_FIND: Final = (
    "import importlib.util, os; s = importlib.util.find_spec('pyspark'); print(os.path.dirname(s.origin) if s else '')"
)


@dataclass(frozen=True, slots=True)
class Spark:
    """A Spark installation. `version` is None where neither its RELEASE file nor its jars tell."""

    home: Path
    version: str | None

    @property
    def has_plugins(self) -> bool:
        """False only for a version that is known to be too old."""
        numbers = re.findall(r"\d+", self.version or "")
        return not numbers or tuple(int(number) for number in numbers[:2]) >= OLDEST_WITH_PLUGINS

    def conf_dir(self, environment: Mapping[str, str]) -> Path:
        """Where the user's configuration is: SPARK_CONF_DIR, or the conf directory of the installation."""
        return Path(environment.get("SPARK_CONF_DIR") or self.home / "conf")


def find_spark(command: Sequence[str], environment: Mapping[str, str]) -> Spark | None:
    """The Spark that `command` will start, found as its own start scripts and pyspark find it; None where none is.

    SPARK_HOME wins, then the installation of the program itself, then that of the Python interpreter.
    """
    if environment.get("SPARK_HOME"):
        return _spark_at(Path(environment["SPARK_HOME"]))
    path = environment.get("PATH", os.defpath)
    program = shutil.which(command[0], path=path) or command[0]
    name = os.path.basename(program)
    if name in PROGRAMS:
        return _of_program(program, environment)
    if re.fullmatch(r"python[\d.]*", name):
        return _of_interpreter(program, environment)
    found = shutil.which("spark-submit", path=path)
    if found:
        return _of_program(found, environment)
    interpreter = shutil.which(environment.get("PYSPARK_PYTHON") or "python3", path=path)
    return _of_interpreter(interpreter, environment) if interpreter else None


def _of_program(program: str, environment: Mapping[str, str]) -> Spark | None:
    """The installation of `bin/spark-submit`: its parent, or the Python package that brought it."""
    scripts = Path(os.path.realpath(program)).parent
    if (scripts.parent / "jars").is_dir():
        return _spark_at(scripts.parent)
    wanted = environment.get("PYSPARK_DRIVER_PYTHON") or environment.get("PYSPARK_PYTHON") or "python3"
    interpreter = shutil.which(wanted, path=environment.get("PATH", os.defpath))
    finder = Path(program).parent / "find_spark_home.py"
    if interpreter and finder.is_file():
        return _spark_at_output([interpreter, str(finder)], environment)
    return None


def _of_interpreter(interpreter: str, environment: Mapping[str, str]) -> Spark | None:
    return _spark_at_output([interpreter, "-c", _FIND], environment)


def _spark_at_output(command: list[str], environment: Mapping[str, str]) -> Spark | None:
    try:
        done = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_FIND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    home = done.stdout.strip()
    return _spark_at(Path(home)) if done.returncode == 0 and home else None


def _spark_at(home: Path) -> Spark | None:
    if not (home / "bin" / "spark-submit").exists() and not (home / "jars").is_dir():
        return None
    return Spark(home, version_of(home))


def version_of(home: Path) -> str | None:
    """The version of a Spark installation, from its RELEASE file or the name of its core jar."""
    try:
        release = (home / "RELEASE").read_text(errors="replace")
    except OSError:
        release = ""
    found = re.match(r"Spark (\d\S*)", release)
    if found:
        return found[1]
    for jar in sorted((home / "jars").glob("spark-core_*.jar")):
        named = re.fullmatch(r"spark-core_[\d.]+-(\d.*)\.jar", jar.name)
        if named:
            return named[1]
    return None


def find_java(environment: Mapping[str, str]) -> str | None:
    """The `java` that Spark's scripts will start, or None where there is none."""
    home = environment.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        return str(java) if os.access(java, os.X_OK) else None
    return shutil.which("java", path=environment.get("PATH", os.defpath))
