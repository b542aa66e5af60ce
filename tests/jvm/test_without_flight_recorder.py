import json
from pathlib import Path

from tests.jvm import toolchain


def test_a_java_without_flight_recorder_records_nothing_and_says_so(classes: Path) -> None:
    home = toolchain.jdk_homes()[0]
    modules = "java.se,jdk.unsupported,jdk.management"
    program = "io.emberscope.WithoutFlightRecorder"
    said = json.loads(toolchain.java(home, "--limit-modules", modules, program, classes=classes))
    assert said["engine"] is None
    assert [problem["where"] for problem in said["problems"]] == ["start"]
    assert "has no JDK Flight Recorder" in said["problems"][0]["message"]

    assert json.loads(toolchain.java(home, program, classes=classes)) == {"engine": "jfr", "problems": []}
