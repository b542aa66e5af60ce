"""Bytes of a file to bytes of its text, for every compression that Spark writes and for those that people use.

The codec is told by content.

Spark's lz4, snappy and lzf streams are the block formats of its Java libraries, not the frame formats of the command
line tools, so their framing is read here and only the blocks go to a library.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO, Final, Protocol

from emberscope.eventlog import zstd
from emberscope.eventlog.lines import stream_of

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
_BLOCK_LIMIT: Final = 1 << 26
_HEAD: Final = 1 << 16
_HEAD_READ: Final = 1 << 16
_HEAD_READ_BZIP2: Final = 1 << 20
"""A block of bzip2 gives nothing before it is whole, and holds up to 900 kB."""


class Bytes(Protocol):
    """What gives bytes in their order."""

    def read(self, size: int, /) -> bytes: ...


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
    for piece in decompress(io.BytesIO(head), codec_of(head), []):
        text += piece
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


def _gzip(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    member = None
    while data := stream.read(_STEP):
        while data:
            member = member or zlib.decompressobj(wbits=31)
            try:
                text = member.decompress(data, _BLOCK_LIMIT)
            except zlib.error:
                damage.append("gzip data are corrupt")
                return
            if text:
                yield text
            if member.eof:
                data = member.unused_data
                member = None
            else:
                data = member.unconsumed_tail
    if member is not None:
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


def _lz4(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    # "LZ4Block", a token (0x10 stored, 0x20 packed), then packed size, size and checksum, little endian.
    while header := stream.read(21):
        packed = int.from_bytes(header[9:13], "little")
        size = int.from_bytes(header[13:17], "little")
        whole = len(header) == 21 and header[:8] == b"LZ4Block" and max(packed, size) <= _BLOCK_LIMIT
        if whole and size == 0:
            continue  # the end mark of one stream; another may follow
        block = stream.read(packed) if whole else b""
        stored = whole and header[8] & 0xF0 == 0x10
        text = (block if stored else _unpack(block, size, "lz4_raw")) if whole and len(block) == packed else None
        if text is not None:
            yield text
            continue
        if (rest := _after(header + block, stream, b"LZ4Block", "lz4", damage)) is None:
            return
        stream = rest
        yield b"\n"  # what is cut must not run into the next line


def _snappy(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    # A header of 16 bytes, then blocks: size (big endian), raw snappy. Streams may follow each other.
    while size_bytes := stream.read(4):
        if size_bytes == b"\x82SNA":
            stream.read(12)
            continue
        packed = int.from_bytes(size_bytes, "big")
        block = stream.read(packed) if len(size_bytes) == 4 and packed <= _BLOCK_LIMIT else b""
        size = _varint(block)
        text = _unpack(block, size, "snappy") if size is not None and size <= _BLOCK_LIMIT else None
        if text is not None and len(block) == packed:
            yield text
            continue
        _say("snappy", damage)
        if len(block) < packed or len(size_bytes) < 4:
            return
        yield b"\n"  # its length may still be right, and the next block stand where it should


def _lzf(stream: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    # Chunks: "ZV", 0 stored or 1 packed, packed size and, where packed, size; big endian.
    while header := stream.read(5):
        whole = len(header) == 5 and header[:2] == b"ZV" and header[2] < 2
        size_bytes = stream.read(2) if whole and header[2] else b""
        packed = int.from_bytes(header[3:5], "big")
        block = stream.read(packed) if whole else b""
        text = None
        if whole and len(block) == packed:
            text = _lzf_chunk(block, int.from_bytes(size_bytes, "big")) if header[2] else block
        if text is not None:
            yield text
            continue
        if (rest := _after(header + size_bytes + block, stream, b"ZV", "lzf", damage)) is None:
            return
        stream = rest
        yield b"\n"


def _say(codec: str, damage: list[str]) -> None:
    if (words := f"{codec} data are cut or corrupt") not in damage:
        damage.append(words)


def _after(bad: bytes, stream: BinaryIO, magic: bytes, codec: str, damage: list[str]) -> BinaryIO | None:
    """The stream from the next block on, behind the beginning of a bad one; None where there is no other."""
    _say(codec, damage)
    seen = bad[1:]
    while (found := seen.find(magic)) < 0:
        more = stream.read(_PLAIN_STEP)
        if not more:
            return None
        seen = seen[1 - len(magic) :] + more
    return stream_of(chain([seen[found:]], iter(lambda: stream.read(_PLAIN_STEP), b"")))


def _unpack(block: bytes, size: int, codec: str) -> bytes | None:
    import pyarrow as pa

    try:
        return bytes(pa.decompress(block, decompressed_size=size, codec=codec, asbytes=True))
    except (OSError, ValueError):
        return None


def _varint(block: bytes) -> int | None:
    value = 0
    for position, byte in enumerate(block[:5]):
        value |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return value
    return None


def _lzf_chunk(block: bytes, size: int) -> bytes | None:
    # A control byte below 32 copies that many bytes plus one; else its upper bits are a length, the rest a distance.
    text = bytearray()
    position = 0
    try:
        while position < len(block):
            control = block[position]
            position += 1
            if control < 32:
                text += block[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += block[position]
                position += 1
            start = len(text) - ((control & 31) << 8 | block[position]) - 1
            position += 1
            if start < 0:
                return None
            for offset in range(start, start + length + 2):
                text.append(text[offset])
    except IndexError:
        return None
    return bytes(text) if len(text) == size else None


_READERS: Final = {
    PLAIN: _plain,
    "zstd": zstd.zstd_text,
    "gzip": _gzip,
    "lz4": _lz4,
    "snappy": _snappy,
    "lzf": _lzf,
    "bzip2": _bzip2,
    "xz": _xz,
}
