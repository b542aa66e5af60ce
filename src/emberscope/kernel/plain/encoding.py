"""The primitive values of a recording: integers, compressed or of fixed width, and strings.

Every function takes the bytes of a chunk and a position and gives back the value and the position after it. They may
read past the end of a record, whose reader then finds that it is longer than its size; beyond the chunk they raise one
of `BROKEN`.
"""

from __future__ import annotations

import struct
from typing import Final


class Damaged(Exception):
    """A value that cannot be right."""


BROKEN: Final = (Damaged, IndexError, ValueError, struct.error)
"""What reading damaged bytes may raise."""

_INT: Final = struct.Struct(">i").unpack_from
_LONG: Final = struct.Struct(">q").unpack_from
_SHORT: Final = struct.Struct(">h").unpack_from
_CHAR: Final = struct.Struct(">H").unpack_from
_HEAD: Final = struct.Struct(">iq").unpack_from


def varint(b: bytes, p: int) -> tuple[int, int]:
    """A long of 7 bits a byte, lowest first. A ninth byte is the last, gives all its 8 bits, and with them the sign.

    Written out because it is the reader's innermost step: the sum holds a continuation bit until the next byte is due.
    """
    v = b[p]
    if v < 1 << 7:
        return v, p + 1
    v += (b[p + 1] << 7) - (1 << 7)
    if v < 1 << 14:
        return v, p + 2
    v += (b[p + 2] << 14) - (1 << 14)
    if v < 1 << 21:
        return v, p + 3
    v += (b[p + 3] << 21) - (1 << 21)
    if v < 1 << 28:
        return v, p + 4
    v += (b[p + 4] << 28) - (1 << 28)
    if v < 1 << 35:
        return v, p + 5
    v += (b[p + 5] << 35) - (1 << 35)
    if v < 1 << 42:
        return v, p + 6
    v += (b[p + 6] << 42) - (1 << 42)
    if v < 1 << 49:
        return v, p + 7
    v += (b[p + 7] << 49) - (1 << 49)
    if v < 1 << 56:
        return v, p + 8
    v += (b[p + 8] << 56) - (1 << 56)
    return (v if v < 1 << 63 else v - (1 << 64)), p + 9


def after_varint(b: bytes, p: int) -> int:
    """The position after the compressed integer at `p`."""
    last = p + 8
    while p < last and b[p] > 127:
        p += 1
    if p >= len(b):
        raise IndexError("compressed integer beyond the end")
    return p + 1


def int_varint(b: bytes, p: int) -> tuple[int, int]:
    value, p = varint(b, p)
    return ((value + (1 << 31)) & 0xFFFFFFFF) - (1 << 31), p


def short_varint(b: bytes, p: int) -> tuple[int, int]:
    value, p = varint(b, p)
    return ((value + (1 << 15)) & 0xFFFF) - (1 << 15), p


def char_varint(b: bytes, p: int) -> tuple[int, int]:
    value, p = varint(b, p)
    return value & 0xFFFF, p


def raw_long(b: bytes, p: int) -> tuple[int, int]:
    return int(_LONG(b, p)[0]), p + 8


def raw_int(b: bytes, p: int) -> tuple[int, int]:
    return int(_INT(b, p)[0]), p + 4


def raw_short(b: bytes, p: int) -> tuple[int, int]:
    return int(_SHORT(b, p)[0]), p + 2


def raw_char(b: bytes, p: int) -> tuple[int, int]:
    return int(_CHAR(b, p)[0]), p + 2


def read_long(b: bytes, p: int, compressed: bool) -> tuple[int, int]:
    return varint(b, p) if compressed else raw_long(b, p)


def read_int(b: bytes, p: int, compressed: bool) -> tuple[int, int]:
    return int_varint(b, p) if compressed else raw_int(b, p)


def read_head(b: bytes, p: int, compressed: bool) -> tuple[int, int, int]:
    """Size and type of the event at `p`, and the position after them."""
    if not compressed:
        size, kind = _HEAD(b, p)
        return size, kind, p + 12
    size, p = int_varint(b, p)
    kind, p = varint(b, p)
    return size, kind, p


def counted(count: int, p: int, end: int) -> int:
    """A count of things, checked against the bytes that are left for them."""
    if not 0 <= count <= end - p:
        raise Damaged(f"impossible count {count} at byte {p}")
    return count


def string(b: bytes, p: int, end: int, compressed: bool) -> tuple[str | int | None, int]:
    """A string of any encoding; an `int` is a key of the pool of `java.lang.String`."""
    encoding = b[p]
    p += 1
    if encoding == 3 or encoding == 5:
        count = b[p]
        if compressed and count < 128:
            p += 1
        else:
            count, p = read_int(b, p, compressed)
        stop = p + count
        if not p <= stop <= end:
            raise Damaged(f"impossible length {count} at byte {p}")
        return b[p:stop].decode("utf-8" if encoding == 3 else "latin-1", "replace"), stop
    if encoding == 0:
        return None, p
    if encoding == 1:
        return "", p
    if encoding == 2:
        return read_long(b, p, compressed)
    if encoding == 4:
        return _characters(b, p, end, compressed)
    raise Damaged(f"string encoding {encoding} at byte {p - 1}")


def _characters(b: bytes, p: int, end: int, compressed: bool) -> tuple[str, int]:
    """A counted array of UTF-16 units. The JDK writes all names of its metadata so, nearly always in ASCII."""
    count, p = read_int(b, p, compressed)
    stop = p + counted(count, p, end)
    if compressed and b[p:stop].isascii():
        return b[p:stop].decode("ascii"), stop
    units = bytearray()
    read = char_varint if compressed else raw_char
    for _ in range(count):
        unit, p = read(b, p)
        units += unit.to_bytes(2, "little")
    return units.decode("utf-16-le", "replace"), p


def after_string(b: bytes, p: int, end: int, compressed: bool) -> int:
    """The position after the string at `p`."""
    encoding = b[p]
    if encoding < 2:
        return p + 1
    if encoding == 3 or encoding == 5:
        count, p = read_int(b, p + 1, compressed)
        return p + counted(count, p, end)
    return string(b, p, end, compressed)[1]
