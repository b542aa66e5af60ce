"""Pieces of text to blocks of whole lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Blocks that fit into a processor's cache are read three times as fast as large ones.
_BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive lines, with their line ends. `first` is the number of the first, from 1."""

    lines: list[bytes]
    first: int

    @property
    def open_end(self) -> bool:
        """True where the last line has no line end: it is the last of its file, and may be cut."""
        return not self.lines[-1].endswith(b"\n")


def blocks(stream: BinaryIO, block_bytes: int = _BLOCK_BYTES) -> Iterator[Block]:
    """Blocks of about `block_bytes`, or of one line where a line is longer."""
    first = 1
    while lines := stream.readlines(block_bytes):
        yield Block(lines, first)
        first += len(lines)


def stream_of(pieces: Iterator[bytes]) -> BinaryIO:
    """The pieces as one stream."""
    return io.BufferedReader(_Pieces(pieces), _BLOCK_BYTES)


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        view = memoryview(buffer)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
