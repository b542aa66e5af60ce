"""Pieces of text to blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_BLOCK_BYTES: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive lines, without their line ends. `first` is the number of the first, from 1.

    `open_end` is true where the last line has no line end: it is the last of its file, and may be cut.
    """

    lines: list[bytes]
    first: int
    open_end: bool = False


def blocks(pieces: Iterable[bytes], block_bytes: int = _BLOCK_BYTES) -> Iterator[Block]:
    """Blocks of about `block_bytes`, or of one line where a line is longer."""
    first = 1
    held: list[bytes] = []
    held_bytes = 0
    for piece in pieces:
        held.append(piece)
        held_bytes += len(piece)
        if held_bytes < block_bytes or b"\n" not in piece:
            continue
        text = b"".join(held)
        whole, _, rest = text.rpartition(b"\n")
        held = [rest]
        held_bytes = len(rest)
        lines = whole.split(b"\n")
        yield Block(lines, first)
        first += len(lines)
    text = b"".join(held)
    if text:
        lines = text.split(b"\n")
        open_end = lines[-1] != b""
        yield Block(lines if open_end else lines[:-1], first, open_end)
