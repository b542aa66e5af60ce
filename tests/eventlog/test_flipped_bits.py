"""A bit that flipped in a compressed log is told wherever the format has a checksum, and never read for the truth."""

from __future__ import annotations

import bz2
import io
import lzma
import random

import pytest

from emberscope.eventlog.codecs import decompress
from tests.eventlog.logs import DATA, plain_text
from tests.eventlog.packed import PACK, lz4

_LINES = plain_text().splitlines(keepends=True)
_PIECES = [b"".join(_LINES[start : start + 25]) for start in range(0, 100, 25)]


CHECKED = {name: pack for name, pack in PACK.items() if name in ("zstd", "gzip", "lz4")} | {
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def _read(data: bytes, codec: str) -> tuple[bytes, list[str]]:
    damage: list[str] = []
    return b"".join(decompress(io.BytesIO(data), codec, damage)), damage


def _flipped(data: bytes, number: int) -> bytes:
    flipped = bytearray(data)
    flipped[number // 8] ^= 1 << number % 8
    return bytes(flipped)


@pytest.mark.parametrize("codec", CHECKED)
def test_no_flipped_bit_is_read_for_the_truth(codec: str) -> None:
    pack = CHECKED[codec]
    data = b"".join(pack(piece) for piece in _PIECES)
    text = b"".join(_PIECES)
    assert _read(data, codec) == (text, [])
    told = 0
    chance = random.Random(5)
    for _ in range(150):
        number = chance.randrange(8 * len(data))
        got, damage = _read(_flipped(data, number), codec)
        assert damage or got == text, f"bit {number}"
        told += bool(damage)
    assert told > 120  # the others are bits of no meaning, such as the time in a header


@pytest.mark.parametrize("codec", ["lz4", "snappy", "lzf"])
def test_what_spark_s_own_classes_wrote(codec: str) -> None:
    """snappy-java and compress-lzf write no checksum: a flip there is told only where the data cannot be unpacked."""
    data = (DATA / "codecs" / codec).read_bytes()
    text, damage = _read(data, codec)
    assert damage == []
    chance = random.Random(6)
    told = 0
    for _ in range(300):
        got, damage = _read(_flipped(data, chance.randrange(8 * len(data))), codec)
        assert codec != "lz4" or damage or got == text
        told += bool(damage)
    assert told > (290 if codec == "lz4" else 20)


def test_a_block_of_lz4_that_is_damaged_costs_no_other() -> None:
    text = plain_text()[: 6 * 32768]
    data = lz4(text)
    third = data.find(b"LZ4Block", data.find(b"LZ4Block", 1) + 1)
    got, damage = _read(_flipped(data, 8 * (third + 1000)), "lz4")
    assert damage == ["lz4 data are cut or corrupt"]
    assert got == text[: 2 * 32768] + b"\n" + text[3 * 32768 :]


def test_a_size_that_flipped_to_nothing_is_no_end_mark() -> None:
    data = lz4(b"x" * 32768 + b"y\n")
    got, damage = _read(_flipped(data, 8 * 13 + 15), "lz4")
    assert damage == ["lz4 data are cut or corrupt"]
    assert got == b"y\n"
