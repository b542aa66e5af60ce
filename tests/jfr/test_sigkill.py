"""A JVM killed at random moments leaves what can be read. Twenty times: `benchmarks/recordings_sigkill.py`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.jfr.jdks import JDKS
from tests.jfr.killed import examine, record_and_kill


@pytest.mark.skipif(not JDKS, reason="no JDK is installed")
@pytest.mark.parametrize("latest", [0.2, 1.0, 2.5])
def test_chunks_of_a_killed_jvm(latest: float, tmp_path: Path) -> None:
    java = JDKS[random.choice(sorted(JDKS))]
    seconds = random.uniform(latest / 2, latest)
    found = examine(java, record_and_kill(java, tmp_path, seconds), tmp_path)
    assert found.problems == [], f"{java}, killed {seconds:.3f} s after its first chunk began"
    assert found.finished or found.said
    if latest == 2.5:
        assert found.events > 0
