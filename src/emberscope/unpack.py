"""The plain bytes of a recording that may be compressed, told by its content and unpacked within bounds."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Final, Protocol

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
LZ4_MAGIC: Final = b"\x04\x22\x4d\x18"
MAX_RATIO: Final = 100
"""Real recordings shrink to a tenth at best; much more is a bomb."""
MIN_LIMIT_BYTES: Final = 64 << 20
MAX_LIMIT_BYTES: Final = 16 << 30
_GZIP_STEP_BYTES: Final = 1 << 14
"""Fed at a time: a thousandfold of it, which is the most that gzip can do, is small."""
_ZSTD_STEP_BYTES: Final = 1 << 9
"""zstd makes up to 128 KiB of four bytes."""
_OUT_BYTES: Final = 1 << 14
"""Read at a time: what an LZ4 frame gives before it breaks is lost up to this much."""


class _Decompressor(Protocol):
    """What objects of `zlib` and `zstandard` for one member or frame have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is in gzip, zstd or an LZ4 frame."""
    return head.startswith((GZIP_MAGIC, ZSTD_MAGIC, LZ4_MAGIC))


def unpack(data: bytes) -> tuple[bytes, str]:
    """The plain bytes, and what is missing of them as a sentence without its end: empty where nothing is."""
    if not is_packed(data):
        return data, ""
    plain = io.BytesIO()
    missing = unpack_into(io.BytesIO(data), plain)
    return plain.getvalue(), missing


def unpack_into(packed: BinaryIO, plain: Any) -> str:
    """Write the plain bytes of a stream, which may as well be plain, to the file `plain`.

    Gives back what is missing, as a sentence without its end. What was unpacked before the fault is written. Stops at a
    hundred times the size of what it has read (and at 16 GiB): no recording shrinks so much.
    """
    head = packed.read(_ZSTD_STEP_BYTES)
    if head.startswith(GZIP_MAGIC):
        return _members(packed, head, plain, "gzip", lambda: zlib.decompressobj(wbits=31), _GZIP_STEP_BYTES)
    if head.startswith(ZSTD_MAGIC):
        import zstandard

        decompressor = zstandard.ZstdDecompressor()
        return _members(packed, head, plain, "zstd", decompressor.decompressobj, _ZSTD_STEP_BYTES)
    if head.startswith(LZ4_MAGIC):
        return _lz4(packed, head, plain)
    while head:
        plain.write(head)
        head = packed.read(_OUT_BYTES)
    return ""


def _members(
    packed: BinaryIO, piece: bytes, plain: Any, name: str, member: Callable[[], _Decompressor], step_bytes: int
) -> str:
    """Members of gzip or frames of zstd, one after the other."""
    read, written = len(piece), 0
    current = member()
    while piece:
        try:
            more = current.decompress(piece)
        except Exception as error:  # zlib.error or ZstdError, which have no base in common
            return f"the {name} data are damaged ({error})"
        plain.write(more)
        written += len(more)
        if too_much := _beyond(read, written, name):
            return too_much
        rest = current.unused_data
        following = b"" if len(rest) >= 4 else packed.read(step_bytes)
        read += len(following)
        piece = rest + following
        if current.eof:
            if not piece.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
                return "" if not piece.strip(b"\0") else f"what follows the {name} data is none"
            current = member()
    return "" if current.eof else f"the {name} data end too early"


def _lz4(packed: BinaryIO, head: bytes, plain: Any) -> str:
    """LZ4 frames, as the command `lz4` writes them. Arrow is imported here only: it takes a moment."""
    import pyarrow as pa

    read = _Joined(head, packed)
    written = 0
    try:
        with pa.CompressedInputStream(pa.PythonFile(read, mode="r"), "lz4") as stream:
            while more := stream.read(_OUT_BYTES):
                plain.write(more)
                written += len(more)
                if too_much := _beyond(read.count, written, "LZ4"):
                    return too_much
    except OSError as error:
        if "ended before" in str(error) or "Truncated" in str(error):
            return "the LZ4 data end too early"
        return f"the LZ4 data are damaged ({error})"
    return ""


class _Joined(io.RawIOBase):
    """A stream whose first bytes have been read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest
        self.count = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece, self._head = self._head[:size], self._head[size:]
        if not piece:
            piece = self._rest.read(size)
        self.count += len(piece)
        return piece


def _beyond(read: int, written: int, name: str) -> str:
    limit = min(max(MIN_LIMIT_BYTES, MAX_RATIO * read), MAX_LIMIT_BYTES)
    return f"the {name} data unpack to more than {limit} bytes" if written > limit else ""
