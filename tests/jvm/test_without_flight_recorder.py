import json
from pathlib import Path

from tests.jvm import toolchain


def test_a_java_without_flight_recorder_has_the_wall_sampler_alone_and_says_so(classes: Path) -> None:
    home = toolchain.jdk_homes()[0]
    modules = "java.se,jdk.unsupported,jdk.management"
    program = "io.emberscope.WithoutFlightRecorder"
    said = json.loads(toolchain.java(home, "--limit-modules", modules, program, classes=classes))
    assert said["engines"] == ["wall-sampler"]
    assert [problem["where"] for problem in said["problems"]] == ["start"]
    assert "has no JDK Flight Recorder" in said["problems"][0]["message"]

    assert json.loads(toolchain.java(home, program, classes=classes)) == {
        "engines": ["jfr", "wall-sampler"],
        "problems": [],
    }
