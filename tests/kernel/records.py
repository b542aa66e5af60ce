"""Events and checkpoints as bytes, and what a decoder makes of them, for tests of the kernel."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from emberscope.kernel.ops import ARRAY, BOOLEAN, INT, LONG, STRING
from tests.jfr.writer import Chunk, varint

TRACE, METHOD, CLASS, SYMBOL, STRINGS = 20, 21, 22, 23, 24


class Writer(Chunk):
    """A chunk without header: positions begin with 0."""

    def event(self, type_id: int, payload: bytes = b"") -> int:
        position = len(self.body)
        self.body += event(self, type_id, payload)
        return position

    def event_of_size(self, size: int, type_id: int, payload: bytes = b"") -> None:
        """An event that claims another size than it has."""
        self.body += self.int(size) + self.long(type_id) + payload


def event(writer: Chunk, type_id: int, payload: bytes) -> bytes:
    rest = writer.long(type_id) + payload
    if not writer.compressed:
        return writer.int(len(rest) + 4) + rest
    size = len(rest) + 1
    while len(varint(size)) + len(rest) != size:
        size += 1
    return varint(size) + rest


def checkpoint(writer: Writer, *pools: tuple[int, list[bytes]], count: int | None = None) -> int:
    """A checkpoint of (type id, records with their keys); with `count`, it claims so many pools."""
    payload = writer.long(5) + writer.long(6) + writer.long(-7) + b"\1"
    payload += writer.int(len(pools) if count is None else count)
    for type_id, records in pools:
        payload += writer.long(type_id) + writer.int(len(records)) + b"".join(records)
    return writer.event(1, payload)


def decoded(kernel: Any, writer: Writer, programs: dict[int, list[int]], known: Iterable[int] | None = None) -> Any:
    """A decoder that has read all events, and the checkpoints among them."""
    decoder = kernel.Decoder(bytes(writer.body), writer.compressed)
    for type_id, ops in programs.items():
        decoder.program(type_id, ops)
    end = len(writer.body)
    assert decoder.events(0, end, None if known is None else frozenset(known)) == end
    assert decoder.checkpoints(decoder.positions(1)) == []
    return decoder


def longs(*values: int) -> memoryview:
    return memoryview(array("q", values))


def numbers(*values: int) -> memoryview:
    return memoryview(array("i", values))


FRAME = [LONG, 3, 0, INT, 5, 0, INT, -1, 0, LONG, 4, 0]
POOLS = {
    TRACE: [LONG, 0, 0, BOOLEAN, 1, 0, ARRAY, 2, len(FRAME), *FRAME],
    METHOD: [LONG, 0, 0, LONG, 1, 0, LONG, 2, 0, STRING, -1, 0],
    CLASS: [LONG, 0, 0, LONG, 1, 0],
    SYMBOL: [LONG, 0, 0, STRING, 1, 0],
    STRINGS: [LONG, 0, 0, STRING, 1, 0],
}
"""Programs of the pools that stacks need."""


def trace(writer: Writer, key: int, frames: list[tuple[int, int, int]], truncated: bool = False) -> bytes:
    """A stack trace of frames (method, line, frame type), leaf first."""
    body = b"".join(
        writer.long(method) + writer.int(line) + writer.int(-1) + writer.long(frame_type)
        for method, line, frame_type in frames
    )
    return writer.long(key) + bytes([truncated]) + writer.int(len(frames)) + body


def method(writer: Writer, key: int, class_key: int, name_key: int) -> bytes:
    return writer.long(key) + writer.long(class_key) + writer.long(name_key) + b"\1"


def symbol(writer: Writer, key: int, text: str | None) -> bytes:
    return writer.long(key) + (b"\0" if text is None else writer.text(text))


def stacks(kernel: Any, decoder: Any, kinds: dict[int, int] | None = None, lines: bool = True) -> Any:
    return kernel.Stacks(
        decoder,
        (TRACE, 1, 2, 3, 4, 5 if lines else -1),
        (METHOD, 1, 2),
        (CLASS, 1),
        (SYMBOL, 1),
        (STRINGS, 1),
        kinds or {},
    )
