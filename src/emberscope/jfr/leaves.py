"""The columns of a chunk's records, as its decoder holds them, as Arrow arrays: values, references, lists.

A reference is shown by what it leads to. Classes, methods and stacks are texts; class loaders, modules, packages and
groups of threads stand for their name, records of one field for that field; all others are shown by their fields, each
a column of its own (`eventThread.javaName`). Where records refer to each other in a circle it is cut. What keys lead to
is made once for a chunk and type, and rows only carry numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.clock import NS, spans_ns, times_ns
from emberscope.jfr.layout import KEY, Column
from emberscope.jfr.meaning import NOTHING_SAID, TICKS, Meaning, meaning
from emberscope.jfr.stack_text import StackTexts
from emberscope.kernel import ops

_TYPES: Final[dict[int, np.dtype[Any]]] = {
    ops.LONG: np.dtype(np.int64),
    ops.INT: np.dtype(np.int32),
    ops.SHORT: np.dtype(np.int16),
    ops.CHAR: np.dtype(np.uint16),
    ops.BYTE: np.dtype(np.int8),
    ops.BOOLEAN: np.dtype(np.uint8),
    ops.FLOAT: np.dtype(np.float32),
    ops.DOUBLE: np.dtype(np.float64),
}
_INTEGERS: Final = frozenset({ops.LONG, ops.INT, ops.SHORT, ops.BYTE})
_INSTANT: Final = pa.timestamp("ns", "UTC")
_SPAN: Final = pa.duration("ns")
TEXT: Final = pa.dictionary(pa.int32(), pa.string())
"""Texts repeat: each column holds every one once."""
_NAMED: Final = frozenset({"ThreadGroup", "ClassLoader", "Module", "Package"})
"""Types that stand for their name."""
_NOT_SET: Final = -(1 << 63)
_WITHOUT_END: Final = (1 << 63) - 1
_MOST_REFERENCES: Final = 4
_MOST_LEAVES: Final = 1000


@dataclass(frozen=True, slots=True)
class Leaf:
    """One column. `name` is its path, relative to the type whose records have it.

    Methods and stacks are `values` that are only rows of `pool`; their texts are made of as many as are wanted
    (`Leaves.finished`), since those of all stacks could fill the memory. `is_code`: names in code, never a secret.
    """

    name: str
    values: pa.Array
    meaning: Meaning = NOTHING_SAID
    is_code: bool = False
    refers: Literal["", "method", "stack"] = ""
    pool: int = 0

    def taken(self, rows: pa.Array) -> Leaf:
        """The same of other rows, null where they are."""
        return replace(self, values=self.values.take(rows))


class Leaves:
    """The leaves of one chunk's types, each made once. `unresolved` counts keys that lead nowhere.

    Nothing here leads back to the chunk or to itself: in a circle, chunks would stay in memory until Python looks for
    garbage, and that can be long.
    """

    def __init__(self, chunk: Chunk) -> None:
        self._header = chunk.header
        self._metadata = chunk.metadata
        self._layouts = chunk.layouts
        self._decoder = chunk.decoder
        self._pool = chunk.string_pool()
        self._shown: dict[tuple[int, frozenset[int]], list[Leaf]] = {}
        self._own: dict[int, list[Leaf]] = {}
        self._texts = StackTexts()
        self.unresolved = 0

    def of(self, type_id: int) -> list[Leaf]:
        """All columns of the records of a type: an event, or a pool without its keys."""
        found = self._own.get(type_id)
        if found is None:
            found = self._own[type_id] = self._fields(type_id, frozenset({type_id}))[:_MOST_LEAVES]
        return found

    def finished(self, leaf: Leaf, start: int = 0, rows: int | None = None) -> pa.Array:
        """The values of a leaf, of these rows or all, with texts in place of methods and stacks."""
        values = leaf.values.slice(start, rows)
        if leaf.refers == "stack":
            return self._texts.texts(self, leaf.pool, values)
        return self._texts.methods(self, leaf.pool, values) if leaf.refers == "method" else values

    def frames(self, pool: int, rows: pa.Array) -> pa.ListArray:
        """Stack traces of these rows as lists of structs of all that the file says of a frame, the leaf first."""
        listed = next((leaf.values for leaf in self.of(pool) if leaf.name == "frames"), None)
        return listed.take(rows) if listed is not None else pa.nulls(len(rows), pa.list_(pa.struct([])))

    def numbers(self, type_id: int, path: str) -> np.ndarray[Any, Any] | None:
        """A column of numbers or keys, also one within arrays, without a copy; None where there is none."""
        layout = self._layouts.get(type_id)
        column = layout.columns.get(path) if layout is not None else None
        if column is None or column.operation == ops.STRING:
            return None
        kind = np.dtype(np.int64) if column.operation == ops.ARRAY else _TYPES[column.operation]
        return np.frombuffer(self._decoder.column(type_id, column.number), kind)

    def pool_of(self, type_id: int, path: str) -> int | None:
        """The type whose records a column refers to."""
        layout = self._layouts.get(type_id)
        column = layout.columns.get(path) if layout is not None else None
        return column.pool if column is not None else None

    def rows(self, type_id: int, path: str) -> tuple[int, np.ndarray[Any, Any]] | None:
        """What a column of keys refers to: a pool's type, and for each value the row there, -1 for none."""
        pool, keys = self.pool_of(type_id, path), self.numbers(type_id, path)
        return None if pool is None or keys is None else (pool, self._lookup(pool, keys))

    def names(self, type_id: int, path: str = "name") -> pa.DictionaryArray:
        """A column of texts or of references to texts; nulls where the type has no such field."""
        for leaf in self._fields(type_id, frozenset({type_id}), only=path):
            if leaf.values.type == TEXT:
                return leaf.values
        return pa.nulls(self._decoder.rows(type_id), TEXT)

    def class_names(self, type_id: int) -> pa.DictionaryArray:
        """The names of classes with dots."""
        names = self.names(type_id)
        return pa.DictionaryArray.from_arrays(names.indices, pc.replace_substring(names.dictionary, "/", "."))

    def _lookup(self, pool: int, keys: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        rows = np.frombuffer(self._decoder.lookup(pool, keys.data), np.int32)
        lost = rows < 0
        if lost.any():
            self.unresolved += int(np.count_nonzero(keys[lost]))
        return rows

    def _fields(self, type_id: int, active: frozenset[int], only: str | None = None) -> list[Leaf]:
        layout = self._layouts.get(type_id)
        if layout is None:
            return []
        columns = [c for c in layout.columns.values() if not c.within and c.path != KEY and only in (None, c.path)]
        return [leaf for column in columns for leaf in self._leaves(type_id, column, column.path, active)]

    def _leaves(self, type_id: int, column: Column, name: str, active: frozenset[int]) -> list[Leaf]:
        if column.operation == ops.ARRAY:
            return self._list(type_id, column, name, active)
        told = meaning(self._metadata, column.field, name)
        if column.operation == ops.STRING:
            return [Leaf(name, _encoded(self._decoder.strings(type_id, column.number, self._pool)), told)]
        values = np.frombuffer(self._decoder.column(type_id, column.number), _TYPES[column.operation])
        if column.pool is not None:
            return self._reference(column.pool, values, name, told, active)
        return [self._value(column, values, name, told)]

    def _value(self, column: Column, values: np.ndarray[Any, Any], name: str, told: Meaning) -> Leaf:
        if column.operation == ops.BOOLEAN:
            return Leaf(name, pa.array(values != 0), told)
        if column.operation in _INTEGERS and (told.instant or told.span):
            unit = told.instant or told.span
            if unit == TICKS or unit in NS:
                return Leaf(name, self._times(values.astype(np.int64, copy=False), told), told)
            return Leaf(name, _plain(values), replace(told, unit=unit.lower()))
        if told.is_unsigned and column.operation in _INTEGERS:
            values = values.view(values.dtype.name.replace("int", "uint"))
        return Leaf(name, _plain(values), told)

    def _times(self, values: np.ndarray[Any, Any], told: Meaning) -> pa.Array:
        """Points in time or spans; null where they are not set, without end, or beyond 64 bits."""
        header = self._header
        unset = values == _NOT_SET if told.instant else (values == _NOT_SET) | (values == _WITHOUT_END)
        if unset.any():
            values = np.where(unset, header.start_ticks if told.instant == TICKS else 0, values)
        ns, lost = (
            times_ns(header, values) if told.instant == TICKS else spans_ns(header, values, told.instant or told.span)
        )
        return pa.array(ns, mask=unset | lost).view(_INSTANT if told.instant else _SPAN)

    def _reference(
        self, pool: int, keys: np.ndarray[Any, Any], name: str, told: Meaning, active: frozenset[int]
    ) -> list[Leaf]:
        shown = self._show(pool, active)
        rows = self._lookup(pool, keys) if shown else np.empty(0, np.int32)
        taking = pa.array(rows, mask=rows < 0)
        return [
            replace(leaf.taken(taking), name=name + leaf.name, meaning=_within(told, leaf.meaning, leaf.name))
            for leaf in shown
        ]

    def _show(self, pool: int, active: frozenset[int]) -> list[Leaf]:
        """What stands for the records of a pool; nothing where it would lead in a circle or too far."""
        if pool in active or len(active) > _MOST_REFERENCES or pool not in self._layouts:
            return []
        found = self._shown.get((pool, active))
        if found is None:
            found = self._shown[pool, active] = self._make_shown(pool, active | {pool})
        return found

    def _make_shown(self, pool: int, active: frozenset[int]) -> list[Leaf]:
        kind = self._metadata.types[pool]
        short = kind.name.rpartition(".")[2]
        numbers = pa.array(np.arange(self._decoder.rows(pool), dtype=np.int32))
        fields = {field.name for field in kind.fields}
        if short == "StackTrace" and {"frames", "truncated"} <= fields:
            cut = self._fields(pool, active, only="truncated")
            stack = Leaf("", numbers, is_code=True, refers="stack", pool=pool)
            return [stack, *(replace(leaf, name=f".{leaf.name}") for leaf in cut)]
        if short == "Method" and {"type", "name"} <= fields:
            described = self._fields(pool, active, only="descriptor")
            method = Leaf("", numbers, is_code=True, refers="method", pool=pool)
            return [method, *(replace(leaf, name=f".{leaf.name}", is_code=True) for leaf in described)]
        if short == "Class" and "name" in fields:
            return [Leaf("", self.class_names(pool), is_code=True)]
        if short in _NAMED and "name" in fields:
            return [Leaf("", self._loader_names(pool) if short == "ClassLoader" else self.names(pool), is_code=True)]
        if len(kind.fields) == 1:
            alone = kind.fields[0].name
            is_symbol = short == "Symbol"
            return [
                replace(leaf, name=leaf.name.removeprefix(alone), is_code=leaf.is_code or is_symbol)
                for leaf in self._fields(pool, active)
            ]
        return [replace(leaf, name=f".{leaf.name}") for leaf in self._fields(pool, active)][:_MOST_LEAVES]

    def _loader_names(self, pool: int) -> pa.DictionaryArray:
        """Names of class loaders, and of their class where they have none."""
        names = self.names(pool)
        found = self.rows(pool, "type")
        if found is None or not self._decoder.rows(found[0]):
            return names
        classes = self.class_names(found[0]).take(pa.array(found[1], mask=found[1] < 0))
        own = pc.fill_null(names.indices, -1).to_numpy(zero_copy_only=False)
        other = pc.fill_null(classes.indices, -1).to_numpy(zero_copy_only=False)
        both = np.where(own >= 0, own, np.where(other >= 0, other + len(names.dictionary), -1)).astype(np.int32)
        return pa.DictionaryArray.from_arrays(
            pa.array(both, mask=both < 0), pa.concat_arrays([names.dictionary, classes.dictionary])
        )

    def _list(self, type_id: int, column: Column, name: str, active: frozenset[int]) -> list[Leaf]:
        """An array as a list of values, or of structs where an element has several."""
        prefix = f"{column.path}[]"
        inner = (*column.within, column.path)
        columns = [c for c in self._layouts[type_id].columns.values() if c.within == inner]
        leaves = [
            leaf
            for c in columns
            for leaf in self._leaves(type_id, c, c.path.removeprefix(prefix).removeprefix("."), active)
        ]
        if not leaves:
            return []
        lengths = np.frombuffer(self._decoder.column(type_id, column.number), np.int64)
        offsets = np.zeros(len(lengths) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        arrays = [self.finished(leaf) for leaf in leaves]
        names = [leaf.name.removeprefix(".") or "value" for leaf in leaves]
        values = arrays[0] if len(leaves) == 1 and not leaves[0].name else pa.StructArray.from_arrays(arrays, names)
        told = meaning(self._metadata, column.field, name)
        is_code = all(leaf.is_code for leaf in leaves)
        return [Leaf(name, pa.ListArray.from_arrays(pa.array(offsets), values), told, is_code=is_code)]


def _plain(values: np.ndarray[Any, Any]) -> pa.Array:
    """An Arrow array over the memory that the kernel holds."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def _encoded(texts: Sequence[str | None]) -> pa.DictionaryArray:
    codes: dict[str, int] = {}
    indices = [None if text is None else codes.setdefault(text, len(codes)) for text in texts]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(list(codes), pa.string()))


def _within(outer: Meaning, inner: Meaning, name: str) -> Meaning:
    """What a field of a record means where another field refers to the record."""
    if not name:
        return replace(inner, label=outer.label or inner.label, description=outer.description or inner.description)
    label = ": ".join(filter(None, (outer.label, inner.label or name.rpartition(".")[2])))
    return replace(inner, label=label)
