"""Damage to recordings, the same for the same number.

The seeds are real recordings. Most of a file is stack traces, while most of what a reader believes is in headers, in
the metadata and at the beginning of checkpoints; so half of all damage is put there.
"""

from __future__ import annotations

import gzip
import random
import struct
from pathlib import Path

MAGIC = b"FLR\0"
_EXTREMES = (
    b"\xff" * 9,
    b"\x80" * 8 + b"\x80",
    b"\x80" * 8 + b"\x01",
    b"\xff" * 8 + b"\x7f",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x08",
    b"\xff\x7f",
    b"\x7f",
    b"\x80",
    b"\x00",
    b"\x01",
    b"\x02",
)
"""Compressed integers at the bounds of what they can say: -1, the least and the greatest, counts in the millions."""


class Seed:
    """A recording, and the places in it that are worth damaging."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self.places = _places(data)


def seeds(directories: list[Path], most_bytes: int) -> list[Seed]:
    """The recordings in these directories, unpacked, by name; none that is larger than `most_bytes`."""
    found = {}
    for directory in directories:
        for path in sorted(directory.rglob("*.jfr*")):
            data = path.read_bytes()
            if data.startswith(b"\x1f\x8b"):
                data = gzip.decompress(data)
            if data and len(data) <= most_bytes:
                found[path.name] = data
    return [Seed(name, data) for name, data in sorted(found.items())]


def mutation(seeds: list[Seed], number: int) -> tuple[str, bytes, bytes]:
    """Of the damaged recording of this number: a word on which it is, its bytes, and those from before the damage."""
    rng = random.Random(number)
    # small recordings have as much to damage as large ones, and are gone through sooner
    seed = rng.choices(seeds, [1 / (20_000 + len(seed.data)) for seed in seeds])[0]
    data = bytearray(seed.data)
    ways = []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        way = rng.choice(_WAYS)
        way(rng, data, seed, seeds)
        ways.append(way.__name__.strip("_"))
    return f"{seed.name}: {', '.join(ways)}", bytes(data), seed.data


def _places(data: bytes) -> list[tuple[int, int]]:
    """Ranges of headers, metadata and the heads of checkpoints, as the headers lead to them."""
    places = []
    chunk = data.find(MAGIC)
    while chunk >= 0 and chunk + 68 <= len(data):
        places.append((chunk, 68))
        size, checkpoint, metadata = struct.unpack_from(">qqq", data, chunk + 8)
        places += [(chunk + metadata, 4_000)] * 2 + [(chunk + checkpoint, 40), (chunk + checkpoint, 2_000)]
        following = data.find(MAGIC, chunk + 4)
        for _ in range(6):  # and events all over
            places.append((chunk + 68 + (checkpoint or size) * len(places) % max(1, len(data) - chunk), 40))
        chunk = following
    return [(start, length) for start, length in places if 0 <= start < len(data)] or [(0, len(data))]


def _position(rng: random.Random, data: bytearray, seed: Seed) -> int:
    if rng.random() < 0.5:
        return rng.randrange(len(data) or 1)
    start, length = rng.choice(seed.places)
    return min(start + rng.randrange(length), max(0, len(data) - 1))


def _flip(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        position = _position(rng, data, seed)
        if position < len(data):
            data[position] ^= 1 << rng.randrange(8)


def _scribble(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    position = _position(rng, data, seed)
    length = rng.choice((1, 4, 16, 200))
    data[position : position + length] = rng.randbytes(length)


def _cut(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    del data[_position(rng, data, seed) :]


def _lose(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    position = _position(rng, data, seed)
    del data[position : position + rng.choice((1, 2, 7, 100, 5_000))]


def _repeat(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    position = _position(rng, data, seed)
    data[position:position] = data[position : position + rng.choice((1, 3, 50, 3_000))]


def _splice(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    other = rng.choice(seeds).data
    start = rng.randrange(len(other))
    length = rng.choice((10, 500, 20_000))
    position = _position(rng, data, seed)
    data[position : position + rng.choice((0, length))] = other[start : start + length]


def _extreme(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    """A compressed integer becomes an extreme one, in its place or with all that follows moved."""
    position = _position(rng, data, seed)
    extreme = rng.choice(_EXTREMES)
    end = position + len(extreme)
    if rng.random() < 0.5:
        end = position
        while end < len(data) and end - position < 8 and data[end] > 127:
            end += 1
        end += 1
    data[position:end] = extreme


def _inflate(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    """A small number, such as a count or a size, grows or shrinks."""
    position = _position(rng, data, seed)
    for place in range(position, min(position + 64, len(data))):
        if 0 < data[place] < 100:
            data[place] = rng.choice((data[place] + 1, data[place] - 1, 127, data[place] * 2 & 127))
            return


def _header(rng: random.Random, data: bytearray, seed: Seed, seeds: list[Seed]) -> None:
    """A field of a chunk's header: positions, sizes, ticks, state, flags."""
    chunk = rng.choice([start for start, length in seed.places if length == 68] or [0])
    place, width = rng.choice(((8, 8), (16, 8), (24, 8), (40, 8), (56, 8), (64, 1), (66, 2), (4, 4)))
    value = rng.choice((0, 1, 2, 3, 255, rng.randrange(len(data) or 1), 2**31, 2**62, 2**63, 2**64 - 1))
    data[chunk + place : chunk + place + width] = (value % 2 ** (8 * width)).to_bytes(width, "big")


_WAYS = (_flip, _flip, _scribble, _cut, _lose, _repeat, _splice, _extreme, _extreme, _inflate, _inflate, _header)
