"""The plain bytes of a file that may be compressed, as a stream: however large it is, little of it is in memory."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from emberscope.eventlog import codecs
from emberscope.unpack import GZIP_MAGIC, LZ4_MAGIC, ZSTD_MAGIC

_MOST_BYTES: Final = 64 << 30
_GZIP_STEP: Final = 1 << 14
_ZSTD_STEP: Final = 1 << 10
"""Read at a time: packed bytes may stand for a thousandfold (gzip) or 32,000-fold (zstd) of plain ones."""


class _Members(io.RawIOBase):
    """Members of gzip or frames of zstd, one after the other. It ends where they are damaged; `missing` says why."""

    def __init__(self, packed: BinaryIO, member: Callable[[], Any], step: int, name: str) -> None:
        self._packed = packed
        self._member = member
        self._step = step
        self._name = name
        self._current = member()
        self._rest = b""
        self._plain = b""
        self._count = 0
        self.missing = ""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        pieces = [self._plain]
        have = len(self._plain)
        while (size < 0 or have < size) and (more := self._more()):
            pieces.append(more)
            have += len(more)
        plain = b"".join(pieces)
        size = len(plain) if size < 0 else size
        self._plain = plain[size:]
        return plain[:size]

    def _more(self) -> bytes:
        while not self.missing:
            piece = self._rest or self._packed.read(self._step)
            self._rest = b""
            if self._current.eof:
                if not piece.strip(b"\0"):
                    return b""
                self._current = self._member()
            if not piece:
                self.missing = f"the {self._name} data end too early"
                return b""
            try:
                plain: bytes = self._current.decompress(piece)
            except Exception as error:  # zlib.error or ZstdError, which have no base in common
                self.missing = f"the {self._name} data are damaged ({error})"
                return b""
            self._rest = self._current.unused_data if self._current.eof else b""
            self._count += len(plain)
            if self._count > _MOST_BYTES:
                self.missing = "it unpacks to more than 64 GiB"
            if plain:
                return plain
        return b""


class _Forgiving(io.RawIOBase):
    """A stream that ends where what it is made of is damaged or ends too early; `missing` says why."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._count = 0
        self.missing = ""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        pieces: list[bytes] = []
        wanted = size
        try:
            while not self.missing and wanted > 0 and (piece := self._inner.read(min(wanted, 1 << 14))):
                pieces.append(piece)
                wanted -= len(piece)
        except Exception as error:  # EOFError, OSError, LZMAError, ArrowInvalid: they have no base in common
            self.missing = f"the compressed data are damaged or end too early ({error})"
        self._count += size - wanted
        if self._count > _MOST_BYTES:
            self.missing = "it unpacks to more than 64 GiB"
        return b"".join(pieces)


@contextmanager
def plain_stream(path: Path) -> Iterator[tuple[BinaryIO, Callable[[], str]]]:
    """The plain bytes of a file in gzip, zstd, LZ4, bzip2, xz or none of these; and what is missing of them, to be
    asked at the end: a sentence without its end, empty where all is there."""
    with path.open("rb") as file:
        head = file.read(16)
        file.seek(0)
        stream = _stream(file, head)
        if stream is None:
            yield file, str
        else:
            made: Any = stream
            yield made, lambda: stream.missing


def _stream(file: BinaryIO, head: bytes) -> _Members | _Forgiving | None:
    if head.startswith(GZIP_MAGIC):
        return _Members(file, lambda: zlib.decompressobj(wbits=31), _GZIP_STEP, "gzip")
    if head.startswith(ZSTD_MAGIC):
        import zstandard

        return _Members(file, zstandard.ZstdDecompressor().decompressobj, _ZSTD_STEP, "zstd")
    if head.startswith(LZ4_MAGIC):
        import pyarrow as pa

        return _Forgiving(pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "lz4"))
    if codecs.codec_of(head) == "bzip2":
        import bz2

        return _Forgiving(bz2.BZ2File(file))
    if codecs.codec_of(head) == "xz":
        import lzma

        return _Forgiving(lzma.open(file))
    return None
