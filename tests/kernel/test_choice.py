from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.jfr.recordings import DATA
from tests.kernel.conftest import HAS_NATIVE

_ASK = "import emberscope.kernel as k; print(k.NATIVE, k.Decoder.__module__)"


def _answer(**environment: str) -> list[str]:
    env = {key: value for key, value in os.environ.items() if key != "EMBERSCOPE_KERNEL"} | environment
    return subprocess.run(
        [sys.executable, "-c", _ASK], env=env, capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="a machine without a compiler may lack it")
def test_where_everything_is_checked_the_native_kernel_is_there() -> None:
    assert HAS_NATIVE


def test_the_native_kernel_is_taken_where_it_is() -> None:
    assert _answer()[0] == str(HAS_NATIVE)


def test_python_can_be_asked_for() -> None:
    assert _answer(EMBERSCOPE_KERNEL="python") == ["False", "emberscope.kernel.plain.decoder"]


@pytest.mark.parametrize("verb", [["flame", "--format", "folded"], ["summary"], ["events"]])
def test_without_the_compiled_kernel_results_are_the_same_and_the_user_is_told_once(verb: list[str]) -> None:
    """A finder that knows no `_native` stands for an installation without a compiler."""
    file = str(DATA / "workload-jdk17.jfr.gz")
    without = (
        "import sys\n"
        "class Nothing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'emberscope.kernel._native':\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Nothing())\n"
    )
    call = f"from emberscope.cli.main import exit_code; exit_code({[verb[0], file, *verb[1:]]!r})"
    runs = [
        subprocess.run([sys.executable, "-c", before + call], capture_output=True, text=True, check=True)
        for before in ("", without)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert "compiled kernel" not in runs[0].stderr
    assert runs[1].stderr.count("compiled kernel") == 1
