"""The checksum of the blocks of lz4-java."""

from __future__ import annotations

import struct
from typing import Final

_PRIME_1: Final = 0x9E3779B1
_PRIME_2: Final = 0x85EBCA77
_PRIME_3: Final = 0xC2B2AE3D
_PRIME_4: Final = 0x27D4EB2F
_PRIME_5: Final = 0x165667B1
_MASK: Final = 0xFFFFFFFF


def xxh32(data: bytes, seed: int) -> int:
    """XXH32 of the data (xxHash fast digest algorithm, 0.1.1)."""
    size = len(data)
    stripes = size & ~15
    if stripes:
        a, b = (seed + _PRIME_1 + _PRIME_2) & _MASK, (seed + _PRIME_2) & _MASK
        c, d = seed & _MASK, (seed - _PRIME_1) & _MASK
        for first, second, third, fourth in struct.iter_unpack("<4I", memoryview(data)[:stripes]):
            a = (a + first * _PRIME_2) & _MASK
            a = ((a << 13 | a >> 19) & _MASK) * _PRIME_1 & _MASK
            b = (b + second * _PRIME_2) & _MASK
            b = ((b << 13 | b >> 19) & _MASK) * _PRIME_1 & _MASK
            c = (c + third * _PRIME_2) & _MASK
            c = ((c << 13 | c >> 19) & _MASK) * _PRIME_1 & _MASK
            d = (d + fourth * _PRIME_2) & _MASK
            d = ((d << 13 | d >> 19) & _MASK) * _PRIME_1 & _MASK
        value = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18)
    else:
        value = seed + _PRIME_5
    value = (value + size) & _MASK
    words = size & ~3
    for (word,) in struct.iter_unpack("<I", memoryview(data)[stripes:words]):
        value = _rotated((value + word * _PRIME_3) & _MASK, 17) * _PRIME_4 & _MASK
    for byte in data[words:]:
        value = _rotated((value + byte * _PRIME_5) & _MASK, 11) * _PRIME_1 & _MASK
    value = (value ^ value >> 15) * _PRIME_2 & _MASK
    value = (value ^ value >> 13) * _PRIME_3 & _MASK
    return value ^ value >> 16


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (32 - by)) & _MASK
