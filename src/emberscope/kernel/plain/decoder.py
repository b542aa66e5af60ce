"""Records of one chunk decoded into columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

from emberscope.kernel.ops import LONG
from emberscope.kernel.plain.buffers import Ints, ints
from emberscope.kernel.plain.columns import Columns
from emberscope.kernel.plain.encoding import BROKEN, counted, read_head, read_int, read_long
from emberscope.kernel.plain.reader import events_reader, pool_reader
from emberscope.kernel.plain.scan import scan

_LONGS: Final = range(-(1 << 63), 1 << 63)


class Decoder:
    """`emberscope.kernel._native` says what this and its methods do."""

    def __init__(self, data: bytes | memoryview, compressed: bool) -> None:
        whole = data.obj if isinstance(data, memoryview) else data
        if isinstance(whole, bytes) and len(whole) == len(data):
            self._b = whole
        else:  # indexing a view takes twice as long as indexing bytes
            self._b = bytes(data)
        self._compressed = bool(compressed)
        self._types: dict[int, Columns] = {}
        self._counts: dict[int, int] = {}
        self._positions: dict[int, array[int]] = {0: array("q"), 1: array("q")}
        # Pools by key, with the size that the pool had then.
        self._rows_by_key: dict[int, tuple[int, dict[int, int]]] = {}
        self._texts_by_key: dict[tuple[int, int], tuple[int, dict[int, str | None]]] = {}

    def program(self, type_id: int, ops: Sequence[int]) -> None:
        if type_id not in _LONGS or type_id in self._types:
            raise ValueError(f"type {type_id} has a program, or is no number of 64 bits")
        self._types[type_id] = Columns(self._b, self._compressed, ops)

    def events(self, start: int, limit: int, known: frozenset[int] | None) -> int:
        if start < 0:
            raise ValueError("events cannot start before the data")
        found, stop = scan(self._b, start, limit, self._compressed, known, self._counts)
        for type_id, positions in found.items():
            self._counts[type_id] = self._counts.get(type_id, 0) + len(positions)
            if type_id in self._positions:
                self._positions[type_id] += positions
            elif type_id in self._types:
                self._decode(self._types[type_id], positions.tolist())
        return stop

    def _decode(self, columns: Columns, positions: list[int]) -> None:
        columns.refuse_views()
        left = iter(positions)
        rows = columns.rows
        broken = 0

        def take_back() -> None:
            nonlocal broken
            broken += 1
            columns.take_back(rows + len(positions) - left.__length_hint__() - broken)  # type: ignore[attr-defined]

        read = events_reader(columns.program, self._compressed)
        read(self._b, left, columns.adds, take_back)
        columns.rows += len(positions) - broken
        columns.broken += broken

    def checkpoints(self, positions: Sequence[int]) -> list[tuple[int, str]]:
        faults = []
        for position in positions:
            fault = self._checkpoint(position)
            if fault:
                faults.append((position, fault))
        return faults

    def _checkpoint(self, position: int) -> str:
        """Reads one; gives back what is wrong with it, if anything."""
        b, compressed = self._b, self._compressed
        fault = "no checkpoint"
        try:
            if position < 0:
                return fault
            size, kind, p = read_head(b, position, compressed)
            if kind != 1 or not 2 <= size <= len(b) - position:
                return fault
            end = position + size
            fault = "the head is cut"
            for _ in range(3):  # start, duration, distance to the one before
                _, p = read_long(b, p, compressed)
            pool_count, p = read_int(b, p + 1, compressed)
            if p > end:
                return fault
            fault = "impossible number of pools"
            for _ in range(counted(pool_count, p, end)):
                fault = "the head of a pool is cut"
                type_id, p = read_long(b, p, compressed)
                count, p = read_int(b, p, compressed)
                if p > end:
                    return fault
                columns = self._types.get(type_id)
                if columns is None:
                    return f"constants of type {type_id}, which has no program"
                fault = f"impossible number of constants of type {type_id}"
                counted(count, p, end)
                if count:
                    fault = f"a constant of type {type_id} cannot be read"
                    p = self._constants(columns, p, end, count)
        except BROKEN:
            return fault
        return ""

    def _constants(self, columns: Columns, p: int, end: int, count: int) -> int:
        columns.refuse_views()
        read = pool_reader(columns.program, self._compressed)
        left = iter(range(count))
        try:
            p = read(self._b, p, end, left, columns.adds)
        except BROKEN:
            columns.rows += count - left.__length_hint__() - 1  # type: ignore[attr-defined]
            columns.take_back(columns.rows)
            raise
        columns.rows += count
        return p

    def counts(self) -> dict[int, int]:
        return dict(self._counts)

    def positions(self, type_id: int) -> list[int]:
        if type_id not in self._positions:
            raise ValueError(f"positions are kept for types 0 and 1, not for {type_id}")
        return self._positions[type_id].tolist()

    def broken(self, type_id: int) -> int:
        columns = self._types.get(type_id)
        return columns.broken if columns is not None else 0

    def rows(self, type_id: int) -> int:
        columns = self._types.get(type_id)
        return columns.rows if columns is not None else 0

    def column(self, type_id: int, column: int) -> memoryview:
        return memoryview(self._types[type_id].numbers(column))

    def strings(self, type_id: int, column: int, pool: tuple[int, int] | None) -> list[str | None]:
        values = self._types[type_id].strings(column)
        pooled = self._pooled(pool).get
        return [value if value.__class__ is not int else pooled(value) for value in values]  # type: ignore[misc]

    def check_pool(self, pool: tuple[int, int] | None) -> None:
        """Raises `KeyError` or `TypeError` for what cannot be a pool of strings."""
        if pool is not None:
            columns = self._types[pool[0]]
            columns.strings(pool[1])
            columns.outside(pool[1])

    def _pooled(self, pool: tuple[int, int] | None) -> dict[int, str | None]:
        self.check_pool(pool)
        if pool is None:
            return {}
        type_id, column = pool
        values = self._types[type_id].strings(column)
        size, found = self._texts_by_key.get(pool, (-1, {}))
        if size != len(values):
            texts = (value if isinstance(value, str) else None for value in values)
            found = dict(zip(self.keys(type_id), texts, strict=False))
            self._texts_by_key[pool] = (len(values), found)
        return found

    def keys(self, type_id: int) -> array[Any]:
        """The keys of a pool; none where it has no column for them."""
        columns = self._types.get(type_id)
        if columns is None or columns.operations.get(0) != LONG or 0 not in columns.top:
            return array("q")
        return columns.numbers(0)

    def rows_by_key(self, type_id: int) -> dict[int, int]:
        """Where the record of each key of a pool is: the last one of that key."""
        keys = self.keys(type_id)
        size, found = self._rows_by_key.get(type_id, (-1, {}))
        if size != len(keys):
            found = dict(zip(keys, range(len(keys)), strict=True))
            self._rows_by_key[type_id] = (len(keys), found)
        return found

    def lookup(self, type_id: int, keys: Ints) -> memoryview:
        found = self.rows_by_key(type_id).get
        return memoryview(array("i", [found(key, -1) for key in ints(keys, "q")]))

    def columns(self, type_id: int) -> Columns | None:
        """All columns of a type, for `Stacks`; None where it has no program."""
        return self._types.get(type_id)
