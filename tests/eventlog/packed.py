"""Text packed as Spark's codecs have it, in many blocks: a second, plain way to write what is read."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pyarrow as pa
import zstandard

from emberscope.kernel import xxh32


def blocks(text: bytes, size: int = 32768) -> list[bytes]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def lz4(text: bytes) -> bytes:
    """As lz4-java writes it; the last block is stored as it is."""
    out = b""
    pieces = blocks(text)
    for number, block in enumerate(pieces, 1):
        stored = number == len(pieces)
        packed = block if stored else pa.compress(block, codec="lz4_raw", asbytes=True)
        sizes = len(packed), len(block), xxh32(block, 0x9747B28C) & 0x0FFFFFFF
        out += (
            b"LZ4Block" + (b"\x15" if stored else b"\x25") + b"".join(n.to_bytes(4, "little") for n in sizes) + packed
        )
    return out + b"LZ4Block\x15" + bytes(12)


def snappy(text: bytes) -> bytes:
    """As snappy-java writes it."""
    packed = [pa.compress(block, codec="snappy", asbytes=True) for block in blocks(text)]
    sized = b"".join(len(block).to_bytes(4, "big") + block for block in packed)
    return b"\x82SNAPPY\0" + b"\0\0\0\1" * 2 + sized


def lzf(text: bytes) -> bytes:
    """As compress-lzf writes what cannot be packed: stored."""
    return b"".join(b"ZV\0" + len(block).to_bytes(2, "big") + block for block in blocks(text))


PACK: dict[str, Callable[[bytes], bytes]] = {
    "lz4": lz4,
    "snappy": snappy,
    "lzf": lzf,
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}
