"""No verb writes over what it reads: asked before any work, for every verb, where it reads its inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from emberscope.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def check_output(output: str | None, inputs: Iterable[str]) -> None:
    """Raises `UsageError` where `output` is one of the inputs, or a part of one that is a directory, or a directory.

    Parts are what can be read: event logs, recordings, manifests and the documents of a run; a report or findings
    written earlier may be written again. What does not exist yet, devices and pipes take nothing away.
    """
    if output is None or output == "-":
        return
    from pathlib import Path

    path = Path(output)
    if path.is_dir():
        raise UsageError(f"{output} is a directory.", hint="Name a file.")
    if not path.is_file():
        return
    for given in inputs:
        try:
            is_part = os.path.samefile(path, given) or (_is_below(path, given) and _is_read(path))
        except (OSError, ValueError):  # no file: standard input, an option, an input that the reader will refuse
            continue
        if is_part:
            raise UsageError(f"{output} is an input, and would be overwritten.", hint="Name another file.")


def _is_below(path: Path, directory: str) -> bool:
    from pathlib import Path

    return os.path.isdir(directory) and Path(os.path.realpath(directory)) in Path(os.path.realpath(path)).parents


def _is_read(path: Path) -> bool:
    from emberscope.sources.kind import kind_of
    from emberscope.store.layout import APPLICATION_DOCUMENT, RUN_DOCUMENT

    if path.name in (APPLICATION_DOCUMENT, RUN_DOCUMENT) or path.name.startswith("appstatus"):
        return True
    if path.suffix == ".json" and path.with_suffix(".jfr").exists():
        return True
    try:
        kind_of(str(path))
    except InputError:
        return False
    return True
