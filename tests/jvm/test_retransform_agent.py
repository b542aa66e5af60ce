"""What the start of Flight Recorder throws away of compiled code, with our agent and without."""

import subprocess
from pathlib import Path

import pytest

from tests.jvm import toolchain


def _thrown_away(home: Path, classes: Path, *options: str) -> int:
    """Compiled methods that are no longer entered from the start of Flight Recorder on."""
    command = [home / "bin" / "java", *options, "-XX:+PrintCompilation", "-cp", toolchain.class_path(classes)]
    ran = subprocess.run([*command, "io.emberscope.LateStart"], capture_output=True, text=True, timeout=120, check=True)
    assert ran.stderr == "", "an agent of ours says nothing"
    _, _, after = ran.stdout.partition("STARTS")
    assert "STARTED" in after
    return after.count("made not entrant")


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_with_the_agent_compiled_code_outlives_the_start_of_flight_recorder(home: Path, classes: Path) -> None:
    without = _thrown_away(home, classes)
    within = _thrown_away(home, classes, f"-javaagent:{toolchain.JAR}")
    if toolchain.major(home) <= 22:
        assert without > 2 * within
    else:
        assert without < 2 * within, "no agent is needed"
