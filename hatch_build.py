"""Builds the kernel in C where that can be done; without it the package is complete, and slower.

`EMBERSCOPE_NO_NATIVE=1` in the environment leaves it out on purpose.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = Path("src", "emberscope", "kernel")
LIBRARY = "_native.abi3.so" if os.name == "posix" else "_native.pyd"
FLAGS = ["-std=c11", "-O2", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"] if os.name == "posix" else []


class NativeKernelHook(BuildHookInterface):
    """Compiles `_native` into the source tree, from where an editable install uses it and a wheel takes it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
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
