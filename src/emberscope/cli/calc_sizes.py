"""Sizes as they are typed for `emberscope calc`."""

from __future__ import annotations

from typing import Final

from emberscope.errors import UsageError
from emberscope.units import parse_bytes

_MIB: Final = 1 << 20


def size_of(text: str, option: str, *, zero: bool = False) -> int:
    size = parse_bytes(text)
    if size == 0 and not zero:
        raise UsageError(f"{option} must be more than nothing.")
    return size


def mib_of(text: str, option: str) -> int:
    """A size of memory in MiB; a bare number is in MiB, as Spark's and YARN's settings have it."""
    mebibytes = parse_bytes(text, default_unit="m") // _MIB
    if mebibytes == 0:
        raise UsageError(f"{option} must be 1m at least.")
    return mebibytes
