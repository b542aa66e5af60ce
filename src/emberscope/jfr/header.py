"""Headers of chunks, and where each chunk begins and ends, in whole, cut and damaged files.

A file is self-contained chunks back to back. Layout of the 68 bytes of a header (all big-endian): magic, major and
minor version (u2 each), then 8 bytes each for size, offset of the last checkpoint, offset of the metadata (both from
the chunk's start), start in epoch ns, duration in ns, start in ticks, ticks a second; then a state byte (0 is
finished), a pad byte and flags (u2: 1 compressed integers, 2 last chunk).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from emberscope.jfr.source import Source

MAGIC: Final = b"FLR\0"
HEADER_BYTES: Final = 68
_HEADER: Final = struct.Struct(">4x2H7qBxH")
_GUESSED_SIZE: Final = 1 << 30
"""What async-profiler writes as the size until it closes the chunk."""


class Header(NamedTuple):
    """The header of one chunk. `offset` and `end` bound the bytes of the file that may be the chunk's own."""

    offset: int
    end: int
    major: int
    minor: int
    size: int
    constants: int
    metadata: int
    start_ns: int
    duration_ns: int
    start_ticks: int
    ticks_per_second: int
    state: int
    flags: int

    @property
    def version(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def compressed(self) -> bool:
        """Whether integers are written with 7 bits a byte."""
        return bool(self.flags & 1)

    @property
    def available(self) -> int:
        return self.end - self.offset

    @property
    def finished(self) -> bool:
        """Whether the writer closed it."""
        return self.state == 0 and self.size != _GUESSED_SIZE and self.constants > 0

    @property
    def missing_bytes(self) -> int:
        """How many bytes its header announces beyond what is there; 0 where the announcement is only a guess."""
        return max(0, self.size - self.available) if self.finished else 0

    def to_ns(self, ticks: int) -> int:
        """Epoch nanoseconds of a time in ticks."""
        return self.start_ns + self.span_ns(ticks - self.start_ticks)

    def span_ns(self, ticks: int) -> int:
        """Nanoseconds of a duration in ticks."""
        return ticks * 1_000_000_000 // self.ticks_per_second

    def fault(self) -> str:
        """Why this reader does not read the chunk; empty where it does.

        Flag bits beyond the two known ones change the meaning of the times of every event, so they are refused rather
        than read wrongly. Version 1 has other names for everything: its events are only counted.
        """
        if self.major not in (1, 2) or (self.major == 2 and self.minor > 1):
            writer = " (Oracle JDK 7 or 8)" if self.major == 0 else ""
            return f"JFR format {self.version}{writer} is not supported"
        if self.major == 2 and self.flags & ~3:
            return f"JFR format {self.version} with flags {self.flags:#06x} is not supported"
        return ""


class Gap(NamedTuple):
    """Bytes of the file that belong to no chunk."""

    offset: int
    size: int


def split(source: Source) -> Iterator[Header | Gap]:
    """The chunks of a file in its order, and the gaps between them.

    A chunk's size is believed where the next chunk or the end of the file follows it. Otherwise (cut, still being
    written, damaged) the chunk may reach to the next header that looks right.
    """
    lost = 0  # bytes before `position` that are in no chunk
    position = 0
    while position < source.size:
        head = source.read(position, HEADER_BYTES)
        if len(head) < HEADER_BYTES:
            lost += source.size - position
            position = source.size
            break
        chunk = _header(head, position, source.size)
        if not head.startswith(MAGIC):
            following = _next_header(source, position + 1, chunk)
            lost += following - position
            position = following
            continue
        stop = position + chunk.size
        if not _size_fits(source, chunk):
            stop = _next_header(source, position + len(MAGIC), chunk)
        if stop - position < HEADER_BYTES:
            lost += stop - position
        else:
            if lost:
                yield Gap(position - lost, lost)
            lost = 0
            yield _header(head, position, stop)
        position = stop
    if lost:
        yield Gap(position - lost, lost)


def _header(head: bytes, offset: int, end: int) -> Header:
    return Header(offset, end, *_HEADER.unpack_from(head))


def _size_fits(source: Source, chunk: Header) -> bool:
    """Whether the next chunk or the end follows where the header says."""
    stop = chunk.offset + chunk.size
    return chunk.size >= HEADER_BYTES and (stop == source.size or source.read(stop, len(MAGIC)) == MAGIC)


def _next_header(source: Source, position: int, current: Header) -> int:
    """Where the next believable chunk begins, or the end of the data.

    The JDK writes copies of a chunk's header into some of its checkpoints: they have the start of the current chunk,
    and nothing begins or ends where they say.
    """
    while True:
        position = source.find(MAGIC, position)
        if position < 0:
            return source.size
        head = source.read(position, HEADER_BYTES)
        if len(head) < HEADER_BYTES:
            return source.size
        chunk = _header(head, position, source.size)
        sound = chunk.major in (1, 2) and chunk.minor < 16 and chunk.start_ns > 0 and chunk.ticks_per_second > 0
        copied = (chunk.start_ns, chunk.start_ticks) == (current.start_ns, current.start_ticks)
        if sound and (not copied or _size_fits(source, chunk)):
            return position
        position += 1
