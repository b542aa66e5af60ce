"""Every field of every event of a chunk as text, written as `oracle/EveryEvent.java` writes what the JDK reads.

Values: `~` null; numbers in decimal, floating point as `f` or `d` and its bits in hexadecimal; strings in quotes,
control characters, quotes and backslashes as `\\` and two hexadecimal digits; arrays in brackets; structs and constants
as `{name=value,…}`, a type that stands for its one field as that field; one of more than `LONGEST` characters (in
UTF-16, as Java counts) as `#` and a digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.layout import KEY, Column
from emberscope.jfr.metadata import Field, Type
from emberscope.kernel import ops

LONGEST = 120
NO_TIME = -(1 << 63)
"""Stands for a time that is not set, or beyond 64 bits."""
_SIGNED = {pa.uint8(): "i1", pa.uint16(): "i2", pa.uint32(): "i4", pa.uint64(): "i8"}
"""Fields that are annotated as unsigned are so in tables, and as they are in the file here."""
Text = Callable[[int], str]
_MARKS = {c: f"\\{c:02x}" for c in (*range(32), ord('"'), ord("\\"))}


def quoted(text: str | None) -> str:
    return "~" if text is None else f'"{text.translate(_MARKS)}"'


class Canonical:
    """The texts of one chunk. `digests` maps digests to what they stand for."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._records: dict[int, dict[int, str]] = {}
        self._fields: dict[int, list[tuple[str, Text]]] = {}
        self._first_rows: dict[int, list[int]] = {}
        self._tables: dict[int, pa.Table] = {}
        self.digests: dict[str, str] = {}

    def events(self, name: str) -> Iterator[tuple[str, list[int]]]:
        """The values of all events of a type, in the order of the file, and their times in nanoseconds.

        Numbers, strings and times of the event itself are those of its Arrow table, so that this is compared too;
        what its references lead to is taken from the constants, where the table has names alone.
        """
        kind = self._chunk.metadata.by_name[name]
        self._tables[kind.id] = table = self._chunk.table(name, redact=False)
        texts = self._all_fields(kind)
        times = [
            table[field.name].cast(pa.int64()).fill_null(NO_TIME).to_pylist()
            for field in kind.fields
            if self._is_time(field) and not field.is_array
        ]
        for row in range(table.num_rows):
            yield "\x1f".join([f"{field}={text(row)}" for field, text in texts]), [column[row] for column in times]
        del self._tables[kind.id], self._fields[kind.id]  # to hold those of one type at a time

    def _is_time(self, field: Field | None) -> bool:
        if field is None or self._chunk.metadata.name_of(field.type_id) != "long":
            return False
        annotations = ("jdk.jfr.Timespan", "jdk.jfr.Timestamp")
        return any(self._chunk.metadata.annotation(field, name) is not None for name in annotations)

    def _all_fields(self, kind: Type) -> list[tuple[str, Text]]:
        """The top fields of a type that has a layout, each with what writes its value in a row."""
        found = self._fields.get(kind.id)
        if found is None:
            found = self._fields[kind.id] = self._texts(kind.id, kind, "")
        return found

    def _texts(self, owner: int, kind: Type, prefix: str) -> list[tuple[str, Text]]:
        return [
            (field.name, self._text(owner, field, f"{prefix}.{field.name}" if prefix else field.name))
            for field in kind.fields
        ]

    def _text(self, owner: int, field: Field, path: str) -> Text:
        if not field.is_array:
            return self._one(owner, field, path)
        lengths = self._numbers(owner, self._chunk.layouts[owner].columns[path])
        starts = [0, *accumulate(lengths)]
        element = self._one(owner, field, f"{path}[]")
        return lambda row: "[" + ",".join([element(i) for i in range(starts[row], starts[row + 1])]) + "]"

    def _one(self, owner: int, field: Field, path: str) -> Text:
        chunk = self._chunk
        kind = chunk.metadata.types[field.type_id]
        column = chunk.layouts[owner].columns.get(path)
        if field.pooled:
            assert column is not None
            keys = chunk.decoder.column(owner, column.number)
            rows = self._as_the_jdk_chooses(kind, chunk.decoder.lookup(field.type_id, keys).tolist())
            return lambda row: self._record(kind, rows[row])
        if kind.fields:
            return self._struct(self._texts(owner, kind, path), kind.simple)
        assert column is not None, f"{path} of {chunk.metadata.name_of(owner)} has no column"
        return self._primitive(owner, column)

    def _as_the_jdk_chooses(self, kind: Type, rows: list[int]) -> list[int]:
        """Of several records with one key, which there are for threads that were renamed, the JDK takes the first.

        Our reader takes the last. It is the one choice that the format leaves to a reader.
        """
        if kind.name != "java.lang.Thread":
            return rows
        if kind.id not in self._first_rows:
            keys = self._numbers(kind.id, self._chunk.layouts[kind.id].columns[KEY])
            firsts: dict[int, int] = {}
            self._first_rows[kind.id] = [firsts.setdefault(key, row) for row, key in enumerate(keys)]
        first = self._first_rows[kind.id]
        return [first[row] if row >= 0 else row for row in rows]

    def _struct(self, fields: list[tuple[str, Text]], simple: bool) -> Text:
        if simple:
            return fields[0][1]
        return lambda row: self._short("{" + ",".join([f"{name}={text(row)}" for name, text in fields]) + "}")

    def _short(self, text: str) -> str:
        if len(text) + sum(c > "\uffff" for c in text) <= LONGEST:
            return text
        digest = "#" + hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16]
        self.digests[digest] = text
        return digest

    def _record(self, kind: Type, row: int) -> str:
        """The text of a constant, which is made once."""
        if row < 0:
            return "~"
        texts = self._records.setdefault(kind.id, {})
        found = texts.get(row)
        if found is None:
            if not kind.fields:
                found = self._primitive(kind.id, self._chunk.layouts[kind.id].columns["value"])(row)
            else:
                found = self._struct(self._all_fields(kind), kind.simple)(row)
            texts[row] = found
        return found

    def _numbers(self, owner: int, column: Column) -> list[int]:
        return self._chunk.decoder.column(owner, column.number).tolist()

    def _primitive(self, owner: int, column: Column) -> Text:
        values = self._values(owner, column)
        if column.operation == ops.STRING:
            return lambda row: quoted(values[row])
        if column.operation == ops.BOOLEAN:
            return lambda row: "true" if values[row] else "false"
        if column.operation in (ops.FLOAT, ops.DOUBLE):
            mark = "f" if column.operation == ops.FLOAT else "d"
            return lambda row: f"{mark}{values[row]:x}"
        return lambda row: str(values[row])

    def _values(self, owner: int, column: Column) -> list[Any]:
        """A column's values, of floating point the bits: from the table of the event if there is one."""
        decoder = self._chunk.decoder
        bits = {ops.FLOAT: "I", ops.DOUBLE: "Q"}.get(column.operation)
        if owner in self._tables and not column.within and not self._is_time(column.field):
            values = self._tables[owner][column.path]
            if bits:
                return values.to_numpy().view(np.dtype(bits)).tolist()
            signed = _SIGNED.get(values.type) if column.operation != ops.CHAR else None
            return values.to_numpy().view(signed).tolist() if signed else values.to_pylist()
        if column.operation == ops.STRING:
            return decoder.strings(owner, column.number, self._chunk.string_pool())
        numbers = decoder.column(owner, column.number)
        return (numbers.cast("B").cast(bits) if bits else numbers).tolist()
