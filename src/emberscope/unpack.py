"""The plain bytes of a recording that may be compressed, told by its content and unpacked within bounds."""

from __future__ import annotations

import zlib
from typing import Final

GZIP_MAGIC: Final = b"\x1f\x8b"
MAX_RATIO: Final = 100
"""Real recordings shrink to a tenth at best; much more is a bomb."""
MIN_LIMIT_BYTES: Final = 64 << 20
MAX_LIMIT_BYTES: Final = 1 << 29
_STEP_BYTES: Final = 1 << 14
"""Fed at a time: a thousandfold of it, which is the most that gzip can do, is small."""


def unpack(data: bytes) -> tuple[bytes, str]:
    """The plain bytes, and what is missing of them as a sentence without its end: empty where nothing is."""
    if not data.startswith(GZIP_MAGIC):
        return data, ""
    limit = min(max(MIN_LIMIT_BYTES, MAX_RATIO * len(data)), MAX_LIMIT_BYTES)
    plain = bytearray()
    position = 0
    while data.startswith(GZIP_MAGIC, position):
        member = zlib.decompressobj(wbits=31)
        while not member.eof and position < len(data):
            piece = data[position : position + _STEP_BYTES]
            try:
                plain += member.decompress(piece)
            except zlib.error as error:
                return bytes(plain), f"the gzip data are damaged ({error})"
            if len(plain) > limit:
                return bytes(plain[:limit]), f"the gzip data unpack to more than {limit} bytes"
            position += len(piece) - len(member.unused_data)
        if not member.eof:
            return bytes(plain), "the gzip data end too early"
    return bytes(plain), ""
