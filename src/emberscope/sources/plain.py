"""The plain bytes of a file that may be compressed, as a stream: however large it is, little of it is in memory."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from emberscope.eventlog import codecs
from emberscope.unpack import GZIP_MAGIC, LZ4_MAGIC, ZSTD_MAGIC

_MOST_BYTES: Final = 64 << 30


class _Forgiving(io.RawIOBase):
    """A stream that ends where what it is made of is damaged or ends too early; `missing` says why."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._read = 0
        self.missing = ""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self.missing:
            return b""
        try:
            pieces = []
            wanted = size
            while wanted > 0 and (piece := self._inner.read(min(wanted, 1 << 20))):
                pieces.append(piece)
                wanted -= len(piece)
        except EOFError:
            self.missing = "the compressed data end too early"
        except Exception as error:  # zlib.error, OSError, ZstdError, ArrowInvalid: they have no base in common
            self.missing = f"the compressed data are damaged ({error})"
        plain = b"".join(pieces)
        self._read += len(plain)
        if self._read > _MOST_BYTES:
            self.missing = "it unpacks to more than 64 GiB"
        return plain


@contextmanager
def plain_stream(path: Path) -> Iterator[tuple[BinaryIO, Callable[[], str]]]:
    """The plain bytes of a file in gzip, zstd, LZ4, bzip2, xz or none of these; and what is missing of them, to be
    asked at the end: a sentence without its end, empty where all is there."""
    with path.open("rb") as file:
        head = file.read(16)
        file.seek(0)
        inner: Any = file
        if head.startswith(GZIP_MAGIC):
            inner = gzip.GzipFile(fileobj=file)
        elif head.startswith(ZSTD_MAGIC):
            import zstandard

            inner = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        elif head.startswith(LZ4_MAGIC):
            import pyarrow as pa

            inner = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "lz4")
        elif codecs.codec_of(head) == "bzip2":
            import bz2

            inner = bz2.BZ2File(file)
        elif codecs.codec_of(head) == "xz":
            import lzma

            inner = lzma.LZMAFile(file)  # noqa: SIM115 - `file` is what is closed
        if inner is file:
            yield file, str
            return
        stream = _Forgiving(inner)
        yield stream, lambda: stream.missing  # type: ignore[misc]
