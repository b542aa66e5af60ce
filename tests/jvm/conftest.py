import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jvm import toolchain


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these record, or read what other JVMs record at the same time."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("alone")


@pytest.fixture(scope="session")
def jar() -> Path:
    """The recorder's jar, built now where it is older than its source."""
    script = toolchain.ROOT / "jvm" / "build.sh"
    ran = subprocess.run(["sh", script], capture_output=True, text=True, env={**os.environ, "PYTHON": sys.executable})
    assert ran.returncode == 0, ran.stderr
    return toolchain.JAR


@pytest.fixture(scope="session")
def classes(jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Java programs beside these tests, compiled."""
    out = tmp_path_factory.mktemp("classes")
    programs = toolchain.sources(Path(__file__).parent / "java")
    toolchain.javac("-nowarn", "-encoding", "UTF-8", "-cp", toolchain.class_path(), "-d", out, *programs)
    return out
