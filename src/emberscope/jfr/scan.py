"""Where in a chunk which events lie, found by going from event to event by their sizes.

In a whole chunk that is all. In a damaged one a size or a type that cannot be right ends the way; it goes on at the
next place where an event is known to begin: checkpoints are linked backwards from the header, and a JDK writes one a
second, so that little is lost.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from emberscope.jfr.chunk import HEADER_BYTES, Chunk
from emberscope.jfr.encoding import BROKEN, raw_int, raw_long, varint
from emberscope.jfr.metadata import CHECKPOINT_EVENT


@dataclass(slots=True)
class Places:
    """Positions of events in their chunk, by type id; `lost_bytes` belong to no event that could be made out."""

    by_type: dict[int, list[int]] = field(default_factory=dict)
    lost_bytes: int = 0

    def of(self, type_id: int) -> list[int]:
        return self.by_type.get(type_id, [])


def linked_checkpoints(b: bytes, chunk: Chunk) -> list[int]:
    """Positions of the checkpoints that the header leads to, first to last; as far as the links hold."""
    found: list[int] = []
    integers = chunk.integers
    position = chunk.constants
    limit = len(b)
    while HEADER_BYTES <= position < limit:
        try:
            size, p = integers.read_int(b, position)
            kind, p = integers.read_long(b, p)
            for _ in range(2):  # start, duration
                _, p = integers.read_long(b, p)
            delta, p = integers.read_long(b, p)
        except BROKEN:
            break
        if kind != CHECKPOINT_EVENT or not 0 < size <= len(b) - position:
            break
        found.append(position)
        if delta >= 0:  # 0 ends the chain; it never leads forward
            break
        limit = position
        position += delta
    return found[::-1]


def scan(b: bytes, chunk: Chunk, known: Collection[int] | None, boundaries: Sequence[int]) -> Places:
    """All events of the chunk's bytes `b`.

    `known` are the type ids that its metadata describes, None while they are not known. `boundaries` are positions,
    in order, where events begin for certain.
    """
    places = Places()
    declared = chunk.size if HEADER_BYTES < chunk.size <= len(b) else len(b)
    position = HEADER_BYTES
    for limit in (declared, len(b)):  # bytes after a declared end are looked at only where no event ends on it
        while position < limit:
            position = _run(b, position, limit, chunk.integers.compressed, known, places.by_type)
            if position >= limit:
                break
            following = bisect.bisect_right(boundaries, position)
            resume = boundaries[following] if following < len(boundaries) else limit
            places.lost_bytes += resume - position
            position = resume
        if position == limit:
            break
    places.lost_bytes += len(b) - position
    return places


def _run(
    b: bytes, p: int, limit: int, compressed: bool, known: Collection[int] | None, by_type: dict[int, list[int]]
) -> int:
    """Note events from `p` on; the position where that ends: `limit` or more, or where nothing makes sense."""
    end = len(b)
    try:
        while p < limit:
            if compressed:
                size = b[p]
                q = p + 1
                if size > 127:
                    size, q = varint(b, p)
                kind = b[q]
                if kind > 127:
                    if b[q + 1] < 128:
                        kind += (b[q + 1] << 7) - 128
                    else:
                        kind, q = varint(b, q)
            else:
                size, kind = _raw_head(b, p)
            after = p + size
            if size < 2 or after > end:
                return p
            found = by_type.get(kind)
            if found is not None:
                found.append(p)
            elif known is None or kind in known or _sound(b, after, limit, compressed, known):
                by_type[kind] = [p]
            else:
                return p
            p = after
    except BROKEN:
        pass
    return p


def _raw_head(b: bytes, p: int) -> tuple[int, int]:
    size, p = raw_int(b, p)
    return size, raw_long(b, p)[0]


def _sound(b: bytes, p: int, limit: int, compressed: bool, known: Collection[int]) -> bool:
    """Whether an event of a described type, or the end, is at `p`: then the event before it was one, though unknown."""
    if p == limit:
        return True
    if compressed:
        size, p_kind = varint(b, p)
        kind = varint(b, p_kind)[0]
    else:
        size, kind = _raw_head(b, p)
    return kind in known and 2 <= size <= len(b) - p
