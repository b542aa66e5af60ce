"""The checksum of lz4-java's blocks, against values of its specification's reference implementation."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("data", "seed", "checksum"),
    [
        (b"", 0, 0x02CC5D05),
        (b"", 0x9E3779B1, 0x36B78AE7),
        (b"abc", 0, 0x32D153FF),
        (b"Nobody inspects the spammish repetition", 0, 0xE2293B2F),
    ],
)
def test_known_values(kernel: Any, data: bytes, seed: int, checksum: int) -> None:
    assert kernel.xxh32(data, seed) == checksum
