"""The JDKs of this machine and how the tests compile and run Java against the recorder's jar."""

import os
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "jvm" / "src" / "main", ROOT / "jvm" / "src" / "jfr")
JAR = ROOT / "src" / "emberscope" / "recorder" / "emberscope-recorder.jar"


def spark_home() -> Path:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


@cache
def major(home: Path) -> int:
    """The feature release of a JDK: 17, 25."""
    said = subprocess.run([home / "bin" / "javac", "-version"], capture_output=True, text=True, check=True)
    return int((said.stdout or said.stderr).split()[-1].split(".")[0])


@cache
def jdk_homes() -> tuple[Path, ...]:
    """One JDK per version, the one on the path first."""
    found = [Path(os.path.realpath(java)).parents[1] for java in [shutil.which("javac")] if java]
    found += sorted(Path(os.path.realpath(javac)).parents[1] for javac in Path("/usr/lib/jvm").glob("*/bin/javac"))
    by_version: dict[int, Path] = {}
    for home in found:
        by_version.setdefault(major(home), home)
    return tuple(by_version.values())


def javac(*arguments: str | Path) -> None:
    ran = subprocess.run([jdk_homes()[0] / "bin" / "javac", *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def sources(*roots: Path) -> list[Path]:
    return sorted(path for root in roots for path in root.rglob("*.java"))


def class_path(*first: Path) -> str:
    return os.pathsep.join([*map(str, first), str(JAR), str(spark_home() / "jars" / "*")])


def java(home: Path, *arguments: str | Path, classes: Path, environment: dict[str, str] | None = None) -> str:
    """Runs a main class and gives its standard output's last line."""
    command = [home / "bin" / "java", "-Xmx256m", "-cp", class_path(classes), *arguments]
    surroundings = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | (environment or {})
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=surroundings)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()[-1]
