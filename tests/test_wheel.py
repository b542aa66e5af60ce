"""The wheel holds all that a page needs; what is fetched for it is what was meant, or there is no wheel."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UPLOT = "emberscope/web/vendor/uplot"


def build(tmp_path: Path, root: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--disable-pip-version-check",
        "--no-deps",
        "-w",
        str(tmp_path),
        ".",
    ]
    settings = {"EMBERSCOPE_NO_NATIVE": "1", **environment}
    done = subprocess.run(
        command, cwd=root, env=os.environ | settings, capture_output=True, text=True, check=False, timeout=300
    )
    if "No matching distribution found for hatchling" in done.stderr:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs a package index, for what builds the wheel")
    return done


def sources(tmp_path: Path) -> Path:
    """What a wheel is built from, without what was fetched before."""
    root = tmp_path / "sources"
    (root / "src" / "emberscope").mkdir(parents=True)
    (root / "web").mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        (root / name).write_bytes((ROOT / name).read_bytes())
    (root / "src" / "emberscope" / "__init__.py").write_bytes((ROOT / "src/emberscope/__init__.py").read_bytes())
    (root / "src" / "emberscope" / "web").symlink_to("../../web")
    return root


def test_the_wheel_has_uplot_with_its_licence(tmp_path: Path) -> None:
    done = build(tmp_path, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {f"{UPLOT}/uPlot.iife.min.js", f"{UPLOT}/uPlot.min.css"} <= names
        licence = archive.read(f"{UPLOT}/LICENSE").decode()
    assert "emberscope/web/times/series.js" in names
    assert "Permission is hereby granted" in licence


def test_another_uplot_makes_no_wheel_and_says_what_to_do(tmp_path: Path) -> None:
    content = b"window.harmed = 1"
    tarball = tmp_path / "uplot-1.6.32.tgz"
    with tarfile.open(tarball, "w:gz") as archive:
        entry = tarfile.TarInfo("package/dist/uPlot.iife.min.js")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    root = sources(tmp_path)
    done = build(tmp_path, root, EMBERSCOPE_UPLOT=str(tarball))
    assert done.returncode != 0
    told = " ".join((done.stdout + done.stderr).split())
    digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    assert digest[:40] in told
    assert "set EMBERSCOPE_UPLOT to it" in told
    assert "Traceback" not in told
    assert not list((root / "web").rglob("*.js"))
    assert not list(tmp_path.glob("*.whl"))


def test_a_fetch_that_fails_makes_no_wheel_and_says_why(tmp_path: Path) -> None:
    npm = "#!/bin/sh\necho 'npm error network' >&2\nexit 1\n"
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "npm").write_text(npm, encoding="utf-8")
    (binaries / "npm").chmod(0o755)
    done = build(tmp_path, sources(tmp_path), PATH=f"{binaries}{os.pathsep}{os.environ['PATH']}", EMBERSCOPE_UPLOT="")
    assert done.returncode != 0
    told = " ".join((done.stdout + done.stderr).split())
    assert re.search(r"uplot@1\.6\.32 could not be had from npm \(npm error network\)", told), told
    assert not list(tmp_path.glob("*.whl"))
