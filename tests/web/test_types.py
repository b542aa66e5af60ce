"""The types of the page modules, written as JSDoc, hold."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_page_modules_pass_the_type_checker():
    compiler = HERE / "node_modules" / ".bin" / "tsc"
    if shutil.which("node") is None or not compiler.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Node and `npm ci --prefix tests/web`")
    done = subprocess.run(
        [compiler, "--project", HERE / "tsconfig.json", "--listFiles"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("/web/flame/") == len(list((HERE.parents[1] / "web" / "flame").glob("*.js")))
