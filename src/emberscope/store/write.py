"""Writing so that a reader never sees half a file: temporary name, fsync, rename."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from emberscope.errors import StoreError
from emberscope.units import format_bytes

PROBE_BYTES: Final = 64 * 1024
MIN_FREE_BYTES: Final = 16 << 20
"""Below this an event log and one chunk per process would not fit, and half a run helps nobody."""


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises `StoreError` where that cannot be done."""
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file that is there, whole, when the block ends without an error; else nothing changes.

    Raises `StoreError` where it cannot be written.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(str(path), f"cannot be written: {error.strerror}.") from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON document whole or not at all. Bytes of a path that are no UTF-8 become question marks."""
    write_bytes(path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode(errors="replace"))


def check_writable(store: Path) -> None:
    """Try what a run will do: make the directory and write into it. Raises `StoreError` with the reason.

    A full disk lets a file be created and refuses its bytes, so bytes are written and forced to the device.
    """
    if os.path.exists(store) and not os.path.isdir(store):
        raise StoreError(str(store), "the store is a directory, and this is a file.", hint="Name another with --store.")
    try:
        store.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=store) as probe:
            probe.write(b"\0" * PROBE_BYTES)
            probe.flush()
            os.fsync(probe.fileno())
        free_bytes = shutil.disk_usage(store).free
    except OSError as error:
        raise StoreError(str(store), f"the store cannot be written: {error.strerror}.") from error
    if free_bytes < MIN_FREE_BYTES:
        raise StoreError(
            str(store),
            f"the store cannot be written: only {format_bytes(free_bytes)} are free, "
            f"less than the {format_bytes(MIN_FREE_BYTES)} that a small run needs.",
        )


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
