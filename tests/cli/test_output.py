"""Results that cannot be written: one sentence, exit code 2, and never Python's own words."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.stored import LOG

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize(
    "words", [["--help"], ["diagnose", "--help"], ["diagnose", str(LOG)], ["summary", str(LOG), "--json"], ["explain"]]
)
def test_a_full_disk_is_one_sentence(words):
    with FULL.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "emberscope.cli.main", *words], stdout=full, stderr=subprocess.PIPE, check=False
        )
    said = done.stderr.decode()
    assert done.returncode == 2
    assert said.count("\n") == 1
    assert "No space left on device" in said
    assert "inside emberscope" not in said


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
def test_a_full_file_is_one_sentence_too():
    command = [sys.executable, "-m", "emberscope.cli.main", "diagnose", str(LOG), "-o", str(FULL)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "emberscope: /dev/full cannot be written: No space left on device. Name another file.\n"
    )
