"""One chunk, decoded: its events and constants as columns, whole or as far as they can be read.

In a whole chunk the events lie one after the other. In a damaged one a size or a type that cannot be right ends the
way; it goes on at the next place where an event is known to begin: checkpoints are linked backwards from the header,
and a JDK writes one a second, so that little is lost.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from emberscope.jfr.encoding import BROKEN, read_long
from emberscope.jfr.header import HEADER_BYTES, Header
from emberscope.jfr.layout import Layout, Wanted, event_layout, pool_layout
from emberscope.jfr.metadata import CHECKPOINT_EVENT, METADATA_EVENT, Metadata, metadata_body, parse_metadata
from emberscope.kernel import Decoder
from emberscope.kernel.ops import MAX_OPS, STRING
from emberscope.tables.coverage import Coverage

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.jfr.tables import Stacks, Tables

Choice = Mapping[str, Wanted | None]
"""Paths of values (None: all) by the name of their type. Types that are not in it are counted (events) or passed over
(pools)."""

NOTHING: Wanted = frozenset()
MOST_FIELDS: Final = 50_000
"""Of all types of a chunk together, those of structs counted wherever they are written: a JDK has some 3,000."""
_TIME: Wanted = frozenset(("startTime",))
STRING_POOL = "java.lang.String"


class Refused(Exception):
    """A chunk that cannot be read at all. `code` is that of the coverage note."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Chunk:
    """A chunk with its columns. Everything in it is good for this chunk only: ids, keys, pools.

    `layouts` are of the types that were decoded. `lost_bytes` belong to no event that could be made out, `faults` are
    checkpoints that could not be read whole (position, reason), `undescribed` events are of types without description,
    `broken` ones were to be decoded and could not be. `last_ns` is when the last event began, of a chunk that is not
    whole; None of any other.
    """

    def __init__(self, header: Header, metadata: Metadata, decoder: Decoder) -> None:
        self.header = header
        self.metadata = metadata
        self.decoder = decoder
        self.layouts: dict[int, Layout] = {}
        self.event_counts: dict[str, int] = {}
        self.faults: list[tuple[int, str]] = []
        self.lost_bytes = self.undescribed = self.broken = 0
        self.last_ns: int | None = None
        self.path = ""
        self._tables: Tables | None = None

    @property
    def start_ns(self) -> int:
        """When it begins, in epoch ns."""
        return self.header.start_ns

    @property
    def coverage(self) -> Coverage:
        """What was lost of it."""
        from emberscope.jfr.losses import Losses

        losses = Losses(self.path)
        losses.of_chunk(self)
        return losses.coverage()

    @property
    def tables(self) -> Tables:
        """All that can be asked of its tables; they are made when they are asked for, by numpy and Arrow."""
        if self._tables is None:
            from emberscope.jfr.tables import Tables

            self._tables = Tables(self)
        return self._tables

    def table(self, name: str, *, stacks: Stacks = "text", redact: bool = True) -> pa.Table:
        """All events of a type (`jdk.GCHeapSummary`): see `emberscope.jfr.tables`. Raises `KeyError`."""
        return self.tables.table(name, stacks=stacks, redact=redact)

    def pool(self, name: str, *, redact: bool = True) -> pa.Table:
        """All constants of a type (`java.lang.Thread`) with their keys. Raises `KeyError`."""
        return self.tables.pool(name, redact=redact)

    def type_id(self, name: str) -> int | None:
        """The id of a type that has records here and was decoded, else None."""
        found = self.metadata.by_name.get(name)
        return found.id if found is not None and self.decoder.rows(found.id) else None

    def rows(self, name: str) -> int:
        """How many events or constants of this type were decoded."""
        found = self.metadata.by_name.get(name)
        return self.decoder.rows(found.id) if found is not None else 0

    def numbers(self, name: str, path: str) -> memoryview | None:
        """A column of numbers or keys, a row each; None where the type has no such field, or one of another kind.

        The memory is the decoder's: valid while a view lives. Values within arrays are for `Column.within` to tell,
        and not to be had here.
        """
        type_id = self.type_id(name)
        column = self.layouts[type_id].columns.get(path) if type_id is not None else None
        if type_id is None or column is None or column.operation == STRING or column.within:
            return None
        return self.decoder.column(type_id, column.number)

    def texts(self, name: str, path: str) -> list[str | None] | None:
        """A column of strings, a row each; None where the type has no such field."""
        type_id = self.type_id(name)
        column = self.layouts[type_id].columns.get(path) if type_id is not None else None
        if type_id is None or column is None or column.operation != STRING or column.within:
            return None
        return self.decoder.strings(type_id, column.number, self.string_pool())

    def string_pool(self) -> tuple[int, int] | None:
        """The pool in which strings that are only references are looked up, as the kernel wants it."""
        type_id = self.type_id(STRING_POOL)
        column = self.layouts[type_id].columns.get("value") if type_id is not None else None
        return (type_id, column.number) if type_id is not None and column is not None else None

    def column_number(self, name: str, path: str) -> int:
        """The number of a column for the kernel; -1 where there is none."""
        found = self.metadata.by_name.get(name)
        layout = self.layouts.get(found.id) if found is not None else None
        column = layout.columns.get(path) if layout is not None else None
        return column.number if column is not None else -1

    def lookup(self, pool: str, keys: memoryview) -> memoryview | None:
        """Rows of a pool's records for keys, -1 where there is none; None where the whole pool is not there."""
        type_id = self.type_id(pool)
        return self.decoder.lookup(type_id, keys) if type_id is not None else None


def decode(header: Header, b: bytes | memoryview, events: Choice | None, pools: Choice | None) -> Chunk:
    """The events and pools that are wanted (None: all of them, with all values) of the chunk with the bytes `b`.

    Where only some events are wanted, None for the pools is all that they can lead to.
    Needs no lock and keeps no state, so that threads may decode side by side. Raises `Refused`.
    """
    _check(header)
    boundaries = _Boundaries(b, header)
    metadata = _metadata(b, header, boundaries)
    chunk = Chunk(header, metadata, Decoder(b, header.compressed))
    if pools is None and events is not None:
        pools = dict.fromkeys((*metadata.reachable(frozenset(events)), STRING_POOL))
    _add_programs(chunk, events, pools)
    chunk.lost_bytes = _walk(chunk.decoder, b, header, metadata.known, boundaries)
    _count(chunk, events)
    if header.missing_bytes or not header.finished:
        chunk.last_ns = _last_ns(b, header, metadata, boundaries)
    chunk.faults = chunk.decoder.checkpoints(chunk.decoder.positions(CHECKPOINT_EVENT))
    return chunk


def described(header: Header, metadata: Metadata) -> Chunk:
    """A chunk with all its types and no record: what its tables look like."""
    chunk = Chunk(header, metadata, Decoder(b"", header.compressed))
    _add_programs(chunk, None, None)
    return chunk


def metadata_of(b: bytes | memoryview, header: Header) -> Metadata:
    """The types of the chunk with the bytes `b`. Raises `Refused`."""
    _check(header)
    return _metadata(b, header, _Boundaries(b, header))


def _check(header: Header) -> None:
    if fault := header.fault():
        raise Refused("unsupported_version", fault)
    if header.ticks_per_second <= 0:
        raise Refused("cut", f"its header is damaged ({header.ticks_per_second} ticks a second)")


def _metadata(b: bytes | memoryview, header: Header, boundaries: _Boundaries) -> Metadata:
    """The chunk's types: from where its header says, else from the last metadata event that can be read."""
    compressed = header.compressed
    if HEADER_BYTES <= header.metadata < len(b):
        try:
            found = parse_metadata(metadata_body(b, header.metadata, compressed), compressed)
            boundaries.sure = header.metadata
            return found
        except BROKEN:
            pass
    searching = Decoder(b, compressed)
    _walk(searching, b, header, None, boundaries)
    for position in reversed(searching.positions(METADATA_EVENT)):
        try:
            return parse_metadata(metadata_body(b, position, compressed), compressed)
        except BROKEN:
            continue
    fault = "it holds no description of its events that can be read"
    if header.missing_bytes:
        fault = f"it is cut after {header.available} of {header.size} bytes, before the description of its events"
    raise Refused("cut", fault)


def _add_programs(chunk: Chunk, events: Choice | None, pools: Choice | None) -> None:
    """Tell the decoder the layout of all types that it is to decode, and of all pools, which have to be walked.

    A pool that cannot be described has no program: checkpoints are read up to it. An event type that cannot is
    counted and not decoded. So are those beyond `MOST_FIELDS` of all types together.
    """
    event_ids = chunk.metadata.event_ids
    left = MOST_FIELDS
    for kind in chunk.metadata.types.values():
        is_event = kind.id in event_ids
        choice = events if is_event else pools
        wanted = None if choice is None else choice.get(kind.name, NOTHING)
        if is_event and wanted is NOTHING:
            continue
        if left <= 0:
            break
        try:
            layout = (event_layout if is_event else pool_layout)(chunk.metadata, kind.id, wanted)
            chunk.decoder.program(kind.id, layout.program)
        except BROKEN:
            left -= MAX_OPS
            continue
        left -= layout.visits
        chunk.layouts[kind.id] = layout


class _Boundaries:
    """Positions where events begin for certain. They are looked for when something goes wrong, and only then."""

    def __init__(self, b: bytes | memoryview, header: Header) -> None:
        self._b = b
        self._header = header
        self._found: list[int] | None = None
        self.sure = 0

    def after(self, position: int) -> int | None:
        """The first one beyond a position."""
        if self._found is None:
            self._found = sorted({*linked_checkpoints(self._b, self._header), *([self.sure] if self.sure else [])})
        following = bisect.bisect_right(self._found, position)
        return self._found[following] if following < len(self._found) else None


def linked_checkpoints(b: bytes | memoryview, header: Header) -> list[int]:
    """Positions of the checkpoints that the header leads to, first to last; as far as the links hold."""
    found: list[int] = []
    compressed = header.compressed
    position = header.constants
    limit = len(b)
    while HEADER_BYTES <= position < limit:
        try:
            size, p = read_long(b, position, compressed, bits=32)
            kind, p = read_long(b, p, compressed)
            for _ in range(2):  # start, duration
                _, p = read_long(b, p, compressed)
            delta, p = read_long(b, p, compressed)
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


def _walk(
    decoder: Decoder, b: bytes | memoryview, header: Header, known: frozenset[int] | None, boundaries: _Boundaries
) -> int:
    """Go over all events of the chunk; the number of bytes that are in none that could be made out."""
    lost = 0
    declared = header.size if HEADER_BYTES < header.size <= len(b) else len(b)
    position = HEADER_BYTES
    for limit in (declared, len(b)):  # bytes after a declared end are looked at only where no event ends on it
        while position < limit:
            position = decoder.events(position, limit, known)
            if position >= limit:
                break
            following = boundaries.after(position)
            resume = following if following is not None and following < limit else limit
            lost += resume - position
            position = resume
        if position == limit:
            break
    return lost + len(b) - position


def _last_ns(b: bytes | memoryview, header: Header, metadata: Metadata, boundaries: _Boundaries) -> int | None:
    """When the last event began that can be made out."""
    timed = Chunk(header, metadata, Decoder(b, header.compressed))
    _add_programs(timed, dict.fromkeys((metadata.name_of(i) for i in metadata.event_ids), _TIME), {})
    _walk(timed.decoder, b, header, metadata.known, boundaries)
    columns = [timed.numbers(metadata.name_of(i), "startTime") for i in metadata.event_ids]
    ticks = [max(column) for column in columns if column is not None and column.format == "q" and len(column)]
    last_ns = header.to_ns(max(ticks)) if ticks else 0
    return last_ns if header.start_ns <= last_ns < 1 << 63 else None


def _count(chunk: Chunk, events: Choice | None) -> None:
    described = chunk.metadata.event_ids
    for type_id, count in chunk.decoder.counts().items():
        if type_id in described:
            name = chunk.metadata.name_of(type_id)
            chunk.event_counts[name] = chunk.event_counts.get(name, 0) + count
            if type_id in chunk.layouts:
                chunk.broken += chunk.decoder.broken(type_id)
            elif events is None or name in events:
                chunk.broken += count
        elif type_id not in (METADATA_EVENT, CHECKPOINT_EVENT):
            chunk.undescribed += count
