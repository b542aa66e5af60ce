"""Which events lie where in a chunk, found by going from event to event by their sizes."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection

from emberscope.kernel.plain.encoding import int_varint, read_head, varint


def scan(
    b: bytes, p: int, limit: int, compressed: bool, known: Collection[int] | None, accepted: Collection[int]
) -> tuple[dict[int, array[int]], int]:
    """Positions of the events from `p` on by type id, and where it stopped, as `Decoder.events` says.

    Types of `accepted` are good even where they are not `known`.
    """
    found: dict[int, array[int]] = {type_id: array("q") for type_id in accepted}
    add = {type_id: positions.append for type_id, positions in found.items()}
    end = len(b)
    try:
        while p < limit:
            if compressed:
                size = b[p]
                if size < 128:
                    q = p + 1
                else:
                    y = b[p + 1]
                    z = b[p + 2]
                    if y > 127 and z > 127 and b[p + 3] < 128:  # the JVM fills sizes in late, in four bytes
                        size += (y << 7) + (z << 14) + (b[p + 3] << 21) - 2113664
                        q = p + 4
                    else:
                        size, q = int_varint(b, p)
                kind = b[q]
                if kind > 127:
                    if b[q + 1] < 128:
                        kind += (b[q + 1] << 7) - 128
                    else:
                        kind, q = varint(b, q)
            else:
                size, kind, q = read_head(b, p, False)
            after = p + size
            if size < 2 or after > end:
                break
            try:
                add[kind](p)
            except KeyError:
                if not (known is None or kind in known or _sound(b, after, limit, compressed, known)):
                    break
                found[kind] = array("q", [p])
                add[kind] = found[kind].append
            p = after
    except (IndexError, struct.error):
        pass
    return {kind: positions for kind, positions in found.items() if positions}, p


def _sound(b: bytes, p: int, limit: int, compressed: bool, known: Collection[int]) -> bool:
    """Whether an event of a known type, or the end, is at `p`: then the event before it was one, though unknown."""
    if p == limit:
        return True
    try:
        size, kind, _ = read_head(b, p, compressed)
    except (IndexError, struct.error):
        return False
    return kind in known and 2 <= size <= len(b) - p
