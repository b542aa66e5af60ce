"""The event logs of tests/data/eventlog and a second, plain way to read them."""

import gzip
import io
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import zstandard

DATA = pathlib.Path(__file__).parent.parent / "data" / "eventlog"
ROLLED = next((DATA / "spark-4.3").iterdir())
PACKED = DATA / "spark-3.5-app-20261130083809-0000.gz"


def plain_text() -> bytes:
    """The Spark 3.5 log as Spark wrote it."""
    return gzip.decompress(PACKED.read_bytes())


def rolled_text() -> bytes:
    """All text of the Spark 4.3 log."""
    parts = sorted(ROLLED.glob("events_*"))
    return b"".join(
        zstandard.ZstdDecompressor().stream_reader(io.BytesIO(p.read_bytes()), read_across_frames=True).read()
        for p in parts
    )


def events(text: bytes) -> Iterator[dict[str, Any]]:
    """Every event of a log, by the standard library."""
    for line in text.splitlines():
        yield json.loads(line)


EVENTFUL = DATA / "spark-4.3-eventful.zstd"
CONNECT = DATA / "spark-4.3-connect.zstd"
RETRIED = DATA / "spark-4.3-retried.zstd"


def packed_text(path: pathlib.Path) -> bytes:
    """All text of a log in one zstd file."""
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes()), read_across_frames=True).read()
