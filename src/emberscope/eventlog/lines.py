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

LINE_BYTES: Final = 32 << 20
"""A longer line is left out. Only plans grow so long, and reading one takes some five times its size in memory."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive whole lines with their line ends, or one line that was too long.

    The last line of a file may lack its end, and be cut. Of a long line there are only its size and its beginning.
    """

    text: bytes
    long_line_bytes: int = 0

    @property
    def open_end(self) -> bool:
        """True where the last line has no line end: it is the last of its file, and may be cut."""
        return not self.long_line_bytes and not self.text.endswith(b"\n")

    def lines(self) -> list[bytes]:
        """The lines one by one."""
        return io.BytesIO(self.text).readlines()


def blocks(stream: BinaryIO, block_bytes: int = _BLOCK_BYTES, line_bytes: int = LINE_BYTES) -> Iterator[Block]:
    """Blocks of about `block_bytes`, or of one line where a line is longer.

    Lines of more than `line_bytes` come by themselves, without most of their text.
    """
    held: list[bytes] = []  # the beginning of a line; of one that is too long its first piece only
    held_bytes = 0
    while piece := stream.read(block_bytes):
        first_end = piece.find(b"\n") + 1
        if held and held_bytes + (first_end or len(piece)) > line_bytes:
            held_bytes += first_end or len(piece)
            del held[1:]
            if not first_end:
                continue
            yield Block(held[0], held_bytes)
            piece, held, held_bytes = piece[first_end:], [], 0
        end = piece.rfind(b"\n") + 1
        if end:
            yield Block(b"".join((*held, memoryview(piece)[:end])) if held or end < len(piece) else piece)
            piece, held, held_bytes = piece[end:], [], 0
        if piece:
            held.append(piece)
            held_bytes += len(piece)
    if held_bytes > line_bytes:
        yield Block(held[0], held_bytes)
    elif held:
        yield Block(b"".join(held))


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
