"""Integers that the reader reads by itself, outside the kernel: in heads of metadata and checkpoint events."""

from __future__ import annotations

import struct
from typing import Final


class Damaged(Exception):
    """Something in a chunk that cannot be right. Never shown to a user as it is: it becomes a coverage note."""


BROKEN: Final = (Damaged, IndexError, KeyError, ValueError, struct.error)
"""What reading damaged bytes may raise."""


def read_long(b: bytes | memoryview, p: int, compressed: bool, *, bits: int = 64) -> tuple[int, int]:
    """A signed integer and the position after it: 7 bits a byte, lowest first, or `bits` big-endian.

    A ninth byte is the last, gives all its 8 bits, and with them the sign. Raises one of `BROKEN` beyond the end.
    """
    if not compressed:
        width = bits // 8
        if p + width > len(b):
            raise Damaged(f"integer beyond the end at byte {p}")
        return int.from_bytes(b[p : p + width], "big", signed=True), p + width
    value = 0
    for shift in range(0, 56, 7):
        byte = b[p]
        p += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
    else:
        value |= b[p] << 56
        p += 1
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value, p
