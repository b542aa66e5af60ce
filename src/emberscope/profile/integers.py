"""Non-negative integers as bytes that gzip well and that a script reads fast: byte planes, or varints.

Byte planes: first the lowest byte of every number, then the next higher of every number … as many planes as the largest
number needs. A varint has 7 bits a byte, the lowest first, the high bit set on all bytes but the last.
"""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

PLANES: Final = "planes"
VARINTS: Final = "varints"


def packed(values: npt.NDArray[np.int64]) -> tuple[str, int, bytes]:
    """The encoding, how many bytes the largest number needs (at least 1), and the bytes.

    Whichever deflates smaller is chosen, the same for the same numbers; where both are alike, planes.
    """
    width = max(1, (int(values.max(initial=0)).bit_length() + 7) // 8)
    flat = planes(values, width)
    if width == 1:
        return PLANES, width, flat
    variable = varints(values)
    if len(zlib.compress(flat, 1)) <= len(zlib.compress(variable, 1)):
        return PLANES, width, flat
    return VARINTS, width, variable


def unpacked(encoding: str, width: int, data: bytes) -> npt.NDArray[np.int64]:
    """The integers of `packed`."""
    return unplanes(data, width) if encoding == PLANES else unvarints(data)


def planes(values: npt.NDArray[np.int64], width: int) -> bytes:
    """The `width` lowest bytes of each number, plane by plane."""
    octets = np.ascontiguousarray(values, "<i8").view(np.uint8).reshape(-1, 8)
    return octets[:, :width].T.tobytes()


def unplanes(data: bytes, width: int) -> npt.NDArray[np.int64]:
    """The integers of `planes`."""
    count = len(data) // width
    octets = np.zeros((count, 8), np.uint8)
    octets[:, :width] = np.frombuffer(data, np.uint8, count * width).reshape(width, count).T
    return octets.view("<i8").reshape(-1).astype(np.int64)


def varints(values: npt.NDArray[np.int64]) -> bytes:
    """Non-negative integers, each as a varint, one after the other."""
    left = values.astype(np.uint64)
    sizes = np.ones(len(left), np.int64)
    for bits in range(7, 64, 7):
        sizes += left >= np.uint64(1 << bits)
    starts = np.cumsum(sizes) - sizes
    result = np.zeros(int(sizes.sum()), np.uint8)
    for place in range(int(sizes.max(initial=0))):
        has = np.flatnonzero(sizes > place)
        more = (sizes[has] > place + 1).astype(np.uint8) << 7
        result[starts[has] + place] = ((left[has] >> np.uint64(7 * place)) & np.uint64(127)).astype(np.uint8) | more
    return result.tobytes()


def unvarints(data: bytes) -> npt.NDArray[np.int64]:
    """The integers of `varints`."""
    octets = np.frombuffer(data, np.uint8)
    if not len(octets):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(octets < 128)
    starts = np.append(0, ends[:-1] + 1)
    place = np.arange(len(octets)) - np.repeat(starts, ends - starts + 1)
    parts = (octets & 127).astype(np.int64) << (7 * place)
    return np.add.reduceat(parts, starts)
