"""Bytes of a file to bytes of its text, for every compression that Spark writes and for those that people use.

The codec is told by content.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final, Protocol

from emberscope.eventlog import zstd
from emberscope.eventlog.blocks import FORMS, BlockReader

PLAIN: Final = "plain"

_MAGIC: Final = (
    (zstd.MAGIC, "zstd"),
    (b"\x1f\x8b", "gzip"),
    (b"LZ4Block", "lz4"),
    (b"\x82SNAPPY\x00", "snappy"),
    (b"ZV\x00", "lzf"),
    (b"ZV\x01", "lzf"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
)
_FOREIGN: Final = (
    (b"PK\x03\x04", "zip archive"),
    (b"\x04\x22\x4d\x18", "LZ4 frame file (not Spark's own lz4)"),
    (b"\xff\x06\x00\x00sNaPpY", "framed snappy file (not Spark's own snappy)"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
)

# A step is small so that a hostile file, which may swell ten-thousandfold, cannot fill the memory in one step.
_STEP: Final = 4096
_PLAIN_STEP: Final = 1 << 20
_PACKED_STEP: Final = 1 << 16
_XZ_MEMORY: Final = 1 << 28
_HEAD: Final = 1 << 16
_HEAD_STEP: Final = 16
"""Of zstd, four bytes may swell to 128 KiB."""
_HEAD_READ: Final = 1 << 16
_HEAD_READ_BZIP2: Final = 1 << 20
"""A block of bzip2 gives nothing before it is whole, and holds up to 900 kB."""


class Bytes(Protocol):
    """What gives bytes in their order."""

    def read(self, size: int, /) -> bytes: ...


class Growing(Protocol):
    """What makes text of a compressed file as it grows; see `zstd.FrameReader`."""

    @property
    def whole(self) -> int: ...
    @property
    def corrupt(self) -> bool: ...
    def feed(self, data: bytes) -> Iterator[bytes]: ...
    def close(self) -> Iterator[bytes]: ...


def growing(codec: str) -> Growing | None:
    """For a file of this codec that grows; None for plain text, and for codecs in which nobody writes a log."""
    if codec in FORMS:
        return BlockReader(FORMS[codec])
    if codec == "zstd":
        return zstd.FrameReader()
    return GzipReader() if codec == "gzip" else None


def codec_of(head: bytes) -> str:
    """The codec of a file that begins with `head`: plain, zstd, gzip, lz4, snappy, lzf, bzip2 or xz."""
    for magic, codec in _MAGIC:
        if head.startswith(magic):
            return codec
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:
        return "zstd"
    return PLAIN


def foreign(head: bytes) -> str | None:
    """What a file is in words, where it is packed in a way that Spark never writes; else None."""
    for magic, name in _FOREIGN:
        if head.startswith(magic):
            return name
    return "tar archive" if head[257:262] == b"ustar" else None


def decompress(stream: BinaryIO, codec: str, damage: list[str]) -> Iterator[bytes]:
    """The text of `stream`, piece by piece.

    A stream that is cut or corrupt gives what can be had of it; the reason is then appended to `damage`.
    """
    return _READERS[codec](stream, damage)


def text_head(head: bytes) -> bytes:
    """The first text of a file of which `head` is the beginning: decompressed where it is compressed."""
    text = b""
    codec = codec_of(head)
    stream = io.BytesIO(head)
    for piece in zstd.zstd_text(stream, [], _HEAD_STEP) if codec == "zstd" else decompress(stream, codec, []):
        text += piece[:_HEAD]
        if len(text) >= _HEAD:
            break
    return text[:_HEAD]


def read_head(stream: Bytes) -> bytes:
    """The beginning of a file, enough of it to tell what it is."""
    head = stream.read(_HEAD_READ)
    return head + stream.read(_HEAD_READ_BZIP2) if head.startswith(b"BZh") else head


def _plain(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    while data := stream.read(_PLAIN_STEP):
        yield data


class GzipReader:
    """The text of members, piece by piece, from bytes in pieces of any size: as `zstd.FrameReader`.

    `whole` is the number of bytes up to the end of the last whole member. What is behind a corrupt one is lost.
    """

    def __init__(self) -> None:
        self.whole = 0
        self.corrupt = False
        self._fed = 0
        self._member: zlib._Decompress | None = None

    @property
    def open(self) -> bool:
        """Whether a member began and did not end."""
        return self._member is not None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The text that these bytes complete. To be run to its end before more is fed."""
        self._fed += len(data)
        while data and not self.corrupt:
            self._member = self._member or zlib.decompressobj(wbits=31)
            try:
                text = self._member.decompress(data, _PLAIN_STEP)
            except zlib.error:
                self.corrupt = True
                return
            if text:
                yield text
            if self._member.eof:
                data, self._member = self._member.unused_data, None
                self.whole = self._fed - len(data)
            else:
                data = self._member.unconsumed_tail

    def close(self) -> Iterator[bytes]:
        """Nothing: what there was came with its bytes."""
        return iter(())


def _gzip(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    members = GzipReader()
    while not members.corrupt and (data := stream.read(_STEP)):
        yield from members.feed(data)
    if members.corrupt:
        damage.append("gzip data are corrupt")
    elif members.open:
        damage.append("the last gzip member is cut")


class _Decompressor(Protocol):
    """What the standard library's objects for one stream of bzip2 and of xz have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def _bzip2(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    import bz2

    return _streams(stream, damage, "bzip2", bz2.BZ2Decompressor)


def _xz(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    import lzma

    return _streams(stream, damage, "xz", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY))


def _streams(stream: BinaryIO, damage: list[str], name: str, new: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """Streams of bzip2 or xz, one after the other. Zeros between them are padding."""
    current: _Decompressor | None = None
    while data := stream.read(_PACKED_STEP):
        while data or (current is not None and not current.needs_input):
            if current is None:
                data = data.lstrip(b"\0")
                if not data:
                    break
                current = new()
            try:
                text = current.decompress(data, _PLAIN_STEP)
            except Exception as error:  # OSError or LZMAError, which have no base in common but this
                damage.append(f"{name} data are corrupt ({error})")
                return
            if text:
                yield text
            data = b""
            if current.eof:
                data, current = current.unused_data, None
    if current is not None:
        damage.append(f"the last {name} stream is cut")


def _blocks(codec: str) -> Callable[[BinaryIO, list[str]], Iterator[bytes]]:
    def read(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
        reader = BlockReader(FORMS[codec])
        while data := stream.read(_PACKED_STEP):
            yield from reader.feed(data)
        yield from reader.close()
        if reader.corrupt:
            damage.append(f"{codec} data are cut or corrupt")

    return read


_READERS: Final = {
    PLAIN: _plain,
    "zstd": zstd.zstd_text,
    "gzip": _gzip,
    **{codec: _blocks(codec) for codec in FORMS},
    "bzip2": _bzip2,
    "xz": _xz,
}
