"""The block formats of Spark's Java libraries (lz4-java, snappy-java, compress-lzf), fed as they come.

They are not the frame formats of the command line tools, so their framing is read here; the blocks go to a library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from emberscope.kernel import xxh32

_BLOCK_LIMIT: Final = 1 << 26
_LZ4_SEED: Final = 0x9747B28C
_LZ4_CHECKED: Final = 0x0FFFFFFF
"""The bits of the checksum that lz4-java keeps."""


@dataclass(frozen=True, slots=True)
class Form:
    """A block format. `block(data, at)` gives the end of the block that begins at `at`, and its text.

    The end is beyond the data where the block is not all there. Text None is a block that is damaged: its end is where
    the next may be, or `at` where nothing is known of that; then the next begins with `magic`.
    """

    magic: bytes
    block: Callable[[bytes, int], tuple[int, bytes | None]]


class BlockReader:
    """The text of blocks, piece by piece, from bytes in pieces of any size: as `zstd.FrameReader`.

    `whole` is the number of bytes up to the end of the last block that ended with a line: where another reader may
    begin. `corrupt` says that something was skipped. A damaged block costs no other.
    """

    def __init__(self, form: Form) -> None:
        self.whole = 0
        self.corrupt = False
        self._form = form
        self._fed = 0
        self._held = bytearray()
        self._needed = 1
        self._lost = False
        self._gap = False
        self._within_line = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The text that these bytes complete. To be run to its end before more is fed."""
        self._fed += len(data)
        self._held += data
        if len(self._held) >= self._needed:
            yield from self._texts(last=False)

    def close(self) -> Iterator[bytes]:
        """What is still to be had when no more bytes come: blocks behind one that says it is longer than it is."""
        if self._held:
            self.corrupt = True
            yield from self._texts(last=True)

    def _texts(self, *, last: bool) -> Iterator[bytes]:
        data = bytes(self._held)
        at, self._needed = 0, 1
        while at < len(data):
            if self._lost:
                found = data.find(self._form.magic, at)
                if found < 0:
                    at = max(at, len(data) - len(self._form.magic) + 1)
                    self._needed = len(data) - at + 1
                    break
                at, self._lost = found, False
            end, text = self._form.block(data, at)
            if end > len(data) and not last:
                self._needed = end - at
                break
            if text is None:
                self.corrupt = self._gap = True
                self._lost = not at < end <= len(data)
                at = at + 1 if self._lost else end
                continue
            if text:
                if self._gap and self._within_line:
                    yield b"\n"  # what is cut must not run into the next line
                self._gap = False
                yield text
                self._within_line = not text.endswith(b"\n")
            at = end
            if not self._within_line:
                self.whole = self._fed - (len(data) - at)
        self._held = bytearray(data[at:])


def _lz4(data: bytes, at: int) -> tuple[int, bytes | None]:
    # "LZ4Block", a token (0x10 stored, 0x20 packed), then packed size, size and checksum, little endian. Without any
    # size it is the end mark of a stream; another may follow.
    start = at + 21
    if start > len(data):
        return start, None
    packed, size, checksum = (int.from_bytes(data[at + i : at + i + 4], "little") for i in (9, 13, 17))
    method = data[at + 8] & 0xF0
    if data[at : at + 8] != b"LZ4Block" or method not in (0x10, 0x20) or max(packed, size) > _BLOCK_LIMIT:
        return at, None
    if not packed and not size:
        return start, b""
    end = start + packed
    if end > len(data):
        return end, None
    block = data[start:end]
    text = block if method == 0x10 else _unpacked(block, size, "lz4_raw")
    if text is None or len(text) != size or (xxh32(text, _LZ4_SEED) ^ checksum) & _LZ4_CHECKED:
        return at, None
    return end, text


def _snappy(data: bytes, at: int) -> tuple[int, bytes | None]:
    # A header of 16 bytes, then blocks: size (big endian), raw snappy. Streams may follow each other.
    start = at + 4
    if start > len(data):
        return start, None
    if data[at:start] == b"\x82SNA":
        return at + 16, b""
    packed = int.from_bytes(data[at:start], "big")
    end = start + packed
    if packed > _BLOCK_LIMIT:
        return at, None
    if end > len(data):
        return end, None
    block = data[start:end]
    size = _varint(block)
    # Its length may still be right where it is damaged, and the next block stand where it should.
    return end, _unpacked(block, size, "snappy") if size is not None and size <= _BLOCK_LIMIT else None


def _lzf(data: bytes, at: int) -> tuple[int, bytes | None]:
    # Chunks: "ZV", 0 stored or 1 packed, packed size and, where packed, size; big endian.
    if at + 5 > len(data):
        return at + 5, None
    kind = data[at + 2]
    if data[at : at + 2] != b"ZV" or kind > 1:
        return at, None
    start = at + 5 + 2 * kind
    end = start + int.from_bytes(data[at + 3 : at + 5], "big")
    if end > len(data):
        return end, None
    if kind == 0:
        return end, data[start:end]
    text = _lzf_chunk(data[start:end], int.from_bytes(data[at + 5 : start], "big"))
    return (at, None) if text is None else (end, text)


def _unpacked(block: bytes, size: int, codec: str) -> bytes | None:
    import pyarrow as pa

    try:
        return bytes(pa.decompress(block, decompressed_size=size, codec=codec, asbytes=True))
    except (OSError, ValueError):
        return None


def _varint(block: bytes) -> int | None:
    value = 0
    for position, byte in enumerate(block[:5]):
        value |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            return value
    return None


def _lzf_chunk(block: bytes, size: int) -> bytes | None:
    # A control byte below 32 copies that many bytes plus one; else its upper bits are a length, the rest a distance.
    text = bytearray()
    position = 0
    try:
        while position < len(block):
            control = block[position]
            position += 1
            if control < 32:
                text += block[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += block[position]
                position += 1
            start = len(text) - ((control & 31) << 8 | block[position]) - 1
            position += 1
            if start < 0:
                return None
            for offset in range(start, start + length + 2):
                text.append(text[offset])
    except IndexError:
        return None
    return bytes(text) if len(text) == size else None


FORMS: Final = {
    "lz4": Form(b"LZ4Block", _lz4),
    "snappy": Form(b"\x82SNAPPY\x00", _snappy),
    "lzf": Form(b"ZV", _lzf),
}
