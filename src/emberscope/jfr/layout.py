"""How the records of a type lie in a chunk: its fields as operations of the kernel, and where their values come out.

A path names a value: `startTime`; `heapSpace.start` of a struct that is written inline; `frames` for the lengths of an
array and `frames[].method` for the values of its elements; `value` where the type itself is primitive.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final, NamedTuple

from emberscope.jfr.encoding import Damaged
from emberscope.jfr.metadata import Field, Metadata, Type
from emberscope.kernel import ops

KEY: Final = "(key)"
"""Path of the key of a pool's record."""
Wanted = frozenset[str]

_PRIMITIVES: Final = {
    "long": ops.LONG,
    "int": ops.INT,
    "short": ops.SHORT,
    "char": ops.CHAR,
    "byte": ops.BYTE,
    "boolean": ops.BOOLEAN,
    "float": ops.FLOAT,
    "double": ops.DOUBLE,
    "java.lang.String": ops.STRING,
}
_MAX_STRUCTS: Final = 8


class Column(NamedTuple):
    """One column that the kernel gives: its number there, the operation that reads it and the field it comes from.

    `pool` is the id of the type whose pool holds what the value, a key, refers to; None for a value of its own.
    `within` are the paths of the arrays that hold it, the outermost first.
    """

    path: str
    number: int
    operation: int
    field: Field | None
    pool: int | None
    within: tuple[str, ...]


class Layout(NamedTuple):
    """The program of a type, and its columns by path, in the order of the fields.

    `visits` counts the fields, those of structs that are written inline too: damaged types may have millions that take
    no bytes.
    """

    program: tuple[int, ...]
    columns: Mapping[str, Column]
    visits: int


@functools.lru_cache(maxsize=4096)
def event_layout(metadata: Metadata, type_id: int, wanted: Wanted | None) -> Layout:
    """The layout of an event with the wanted paths, all of them for None; a path that the type lacks is left out.

    Raises `Damaged` for types that cannot be right: too many fields, nested too deep, of a type that is not described.
    """
    made = _Making(metadata, wanted)
    return made.layout(type_id, whole=False)


@functools.lru_cache(maxsize=4096)
def pool_layout(metadata: Metadata, type_id: int, wanted: Wanted | None) -> Layout:
    """The layout of a pool's records; its column 0 is the key. Raises `Damaged` as `event_layout` does."""
    made = _Making(metadata, wanted)
    made.value(KEY, ops.LONG, None, None)
    return made.layout(type_id, whole=True)


class _Making:
    """A layout while it is made."""

    def __init__(self, metadata: Metadata, wanted: Wanted | None) -> None:
        self._metadata = metadata
        self._wanted = wanted
        self._arrays: tuple[str, ...] = ()
        self._visits = 0
        self.ops: list[int] = []
        self.columns: dict[str, Column] = {}
        self._last_wanted = 0

    def layout(self, type_id: int, *, whole: bool) -> Layout:
        """The layout of a type; where not `whole`, reading may stop after the last wanted value."""
        self._fields(self._metadata.types[type_id], "", 0)
        if not whole:
            del self.ops[self._last_wanted :]
        return Layout(tuple(self.ops), self.columns, self._visits)

    def value(self, path: str, operation: int, field: Field | None, pool: int | None) -> None:
        self.ops += (operation, self._column(path, operation, field, pool), 0)
        self._mark()

    def _column(self, path: str, operation: int, field: Field | None, pool: int | None) -> int:
        """A new number for this path, -1 where nobody wants it or it has one (damaged types repeat names)."""
        if path in self.columns or not self._is_wanted(path):
            return -1
        number = len(self.columns)
        self.columns[path] = Column(path, number, operation, field, pool, self._arrays)
        return number

    def _is_wanted(self, path: str) -> bool:
        wanted = self._wanted
        return wanted is None or path == KEY or path in wanted or any(w.startswith(f"{path}[]") for w in wanted)

    def _mark(self) -> None:
        if not self._arrays and self.ops[-2] >= 0:
            self._last_wanted = len(self.ops)

    def _fields(self, owner: Type, prefix: str, depth: int) -> None:
        """The fields of a type one after the other; a primitive type has none and is its own value."""
        if depth > _MAX_STRUCTS:
            raise Damaged("types are nested too deep")
        if not owner.fields and owner.name in _PRIMITIVES:
            self.value(prefix or "value", _PRIMITIVES[owner.name], None, None)
        for field in owner.fields:
            self._visits += 1
            if self._visits >= ops.MAX_OPS:
                raise Damaged("a type has too many fields")
            path = f"{prefix}.{field.name}" if prefix else field.name
            if field.is_array:
                self._array(path, field, depth)
            else:
                self._one(path, field, depth)

    def _one(self, path: str, field: Field, depth: int) -> None:
        if field.pooled:
            self.value(path, ops.LONG, field, field.type_id)
            return
        inner = self._metadata.types.get(field.type_id)
        if inner is None:
            raise Damaged(f"type {field.type_id} is used and not described")
        if inner.fields:
            self._fields(inner, path, depth + 1)
        elif inner.name in _PRIMITIVES:
            self.value(path, _PRIMITIVES[inner.name], field, None)

    def _array(self, path: str, field: Field, depth: int) -> None:
        if len(self._arrays) >= ops.MAX_NESTING:
            raise Damaged("arrays are nested too deep")
        number = self._column(path, ops.ARRAY, field, None)
        head = len(self.ops)
        self.ops += (ops.ARRAY, number, 0)
        self._arrays += (path,)
        self._one(f"{path}[]", field, depth + 1)
        self._arrays = self._arrays[:-1]
        self.ops[head + 2] = len(self.ops) - head - 3
        if number >= 0 and not self._arrays:
            self._last_wanted = len(self.ops)
