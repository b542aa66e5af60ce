"""A short part of the campaign of `tests/kernel/fuzz`: damaged recordings never harm the kernel in C.

The rest of it is run by hand: `python -m tests.kernel.fuzz.campaign --help`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel.fuzz.campaign import ROOT, compile_watched, watched_environment
from tests.kernel.fuzz.drive import drive
from tests.kernel.fuzz.mutations import Seed, mutation, seeds

native = pytest.importorskip("emberscope.kernel._native")
plain = pytest.importorskip("emberscope.kernel.plain")


@pytest.fixture(scope="module")
def recordings() -> list[Seed]:
    return seeds([ROOT / "tests/data/jfr"], 160_000)


@pytest.mark.parametrize("number", range(40))
def test_both_kernels_make_the_same_of_damage(recordings: list[Seed], number: int) -> None:
    _, data, whole = mutation(recordings, number)
    assert drive(native, data, whole, thrift=False) == drive(plain, data, whole, thrift=False)


def test_both_kernels_make_the_same_of_whole_recordings(recordings: list[Seed]) -> None:
    for seed in recordings:
        assert drive(native, seed.data, seed.data, thrift=True) == drive(plain, seed.data, seed.data, thrift=True)


def _can_watch() -> bool:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        return False
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    return Path(found.stdout.strip()).is_absolute()


@pytest.mark.skipif(not _can_watch(), reason="needs gcc with AddressSanitizer")
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.kernel.fuzz.campaign", "--library", str(compile_watched(tmp_path))]
    command += ["--count", "200", "--most-bytes", "300000"]
    done = subprocess.run(
        command, cwd=ROOT, env=watched_environment(), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr
    assert "200 mutations" in done.stdout
