"""The jar runs on every Java from 8 on: its class files say so, and the compiler says so of all that they use."""

import re
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

from emberscope.recorder.settings import PLUGIN_CLASS, SETTINGS
from tests.jvm import toolchain

JAVA_8 = 52
NEEDS_FLIGHT_RECORDER = re.compile(
    r"io/emberscope/(Flight(Recording|Settings|Rates)|HeapSummary|TaskEvents)(\$.*)?\.class"
)


def _classes(jar: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(jar) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(".class")}


def test_all_class_files_are_of_java_8(jar: Path) -> None:
    versions = {name: struct.unpack_from(">4xHH", data) for name, data in _classes(jar).items()}
    assert f"{PLUGIN_CLASS.replace('.', '/')}.class" in versions
    assert {name: version for name, version in versions.items() if version != (0, JAVA_8)} == {}


def test_only_classes_that_are_loaded_by_name_touch_flight_recorder(jar: Path) -> None:
    touching = {name for name, data in _classes(jar).items() if b"jdk/jfr/" in data}
    assert touching
    assert [name for name in touching if not NEEDS_FLIGHT_RECORDER.fullmatch(name)] == []
    guarded = [b"io/emberscope/FlightRecording", b"io/emberscope/TaskEvents"]
    referring = [
        name
        for name, data in _classes(jar).items()
        if name not in touching and not NEEDS_FLIGHT_RECORDER.fullmatch(name) and any(word in data for word in guarded)
    ]
    assert referring == [], "a link to them would fail where jdk.jfr is missing; Engines names the class in a string"


def test_nothing_newer_than_java_8_is_used_but_flight_recorder(jar: Path, tmp_path: Path) -> None:
    # The compiler knows the API of Java 8 (--release 8). It has no jdk.jfr there, so that package alone is lent to it.
    image = tmp_path / "image"
    home = toolchain.jdk_homes()[0]
    wanted = "--include=regex:/jdk.jfr/jdk/jfr/[^/]*|/java.base/jdk/internal/event/Event.class"
    subprocess.run([home / "bin" / "jimage", "extract", f"--dir={image}", wanted, home / "lib" / "modules"], check=True)
    lent = tmp_path / "lent"
    for module in image.iterdir():
        shutil.copytree(module, lent, dirs_exist_ok=True)
    path = f"{lent}:{toolchain.spark_home() / 'jars'}/*"
    out = tmp_path / "out"
    toolchain.javac(
        "--release",
        "8",
        "-nowarn",
        "-Xlint:-options",
        "-encoding",
        "UTF-8",
        "-cp",
        path,
        "-d",
        out,
        *toolchain.sources(*toolchain.SOURCES),
    )


def test_of_flight_recorder_only_what_java_11_had_is_used(jar: Path, tmp_path: Path) -> None:
    # Java 8's own backport of jdk.jfr (8u262) is that of Java 11.
    path = f"{toolchain.spark_home() / 'jars'}/*"
    toolchain.javac(
        "--release",
        "11",
        "-nowarn",
        "-encoding",
        "UTF-8",
        "-cp",
        path,
        "-d",
        tmp_path,
        *toolchain.sources(*toolchain.SOURCES),
    )


def test_the_plugin_and_the_documentation_have_the_same_settings(classes: Path) -> None:
    home = toolchain.jdk_homes()[0]
    command = [home / "bin" / "java", "-cp", toolchain.class_path(classes), "io.emberscope.Settings"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"{one.key}\t{one.kind}\t{one.default}" for one in SETTINGS]
