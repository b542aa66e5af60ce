"""Archives made on the spot from the event logs of tests/data."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping

import zstandard

from tests.eventlog.logs import ROLLED, plain_text

APP_35 = "app-20261130083809-0000"
APP_43 = "app-20261130085753-0000"

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def tarred(files: Mapping[str, bytes | tarfile.TarInfo], form: int = tarfile.PAX_FORMAT) -> bytes:
    """Files, and members that are given as they are: links, devices."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in files.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(data, bytes):
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            else:
                archive.addfile(info)
    return out.getvalue()


def rolled_files() -> dict[str, bytes]:
    """The rolling log of Spark 4.3, by the names of its files in its folder."""
    return {f"{ROLLED.name}/{path.name}": path.read_bytes() for path in sorted(ROLLED.iterdir())}


def cut_log(lines: int) -> bytes:
    """The first lines of the log of Spark 3.5, which identify its application."""
    return b"".join(plain_text().splitlines(keepends=True)[:lines])
