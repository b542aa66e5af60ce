from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
