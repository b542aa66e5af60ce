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

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.layout import KEY, Column
from emberscope.jfr.metadata import Field, Type
from emberscope.kernel import ops

LONGEST = 120
_UNITS_NS = {"": 1, "NANOSECONDS": 1, "MICROSECONDS": 10**3, "MILLISECONDS": 10**6, "SECONDS": 10**9}
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
        self.digests: dict[str, str] = {}

    def events(self, name: str) -> Iterator[str]:
        """The values of all events of a type, in the order of the file."""
        kind = self._chunk.metadata.by_name[name]
        fields = self._all_fields(kind)
        for row in range(self._chunk.decoder.rows(kind.id)):
            yield "\x1f".join([f"{field}={text(row)}" for field, text in fields])

    def times(self, name: str) -> Iterator[list[int | None]]:
        """For each event its time stamps and time spans in nanoseconds, as this reader converts them."""
        chunk = self._chunk
        kind = chunk.metadata.by_name[name]
        columns = []
        for field in kind.fields:
            span = chunk.metadata.annotation(field, "jdk.jfr.Timespan")
            stamp = chunk.metadata.annotation(field, "jdk.jfr.Timestamp")
            if (span is None and stamp is None) or field.is_array or chunk.metadata.name_of(field.type_id) != "long":
                continue
            column = chunk.numbers(name, field.name)
            assert column is not None
            columns.append([self._ns(value, span, stamp) for value in column.tolist()])
        for row in range(chunk.decoder.rows(kind.id)):
            yield [column[row] for column in columns]

    def _ns(self, value: int, span: str | None, stamp: str | None) -> int | None:
        header = self._chunk.header
        if span is not None:
            ns = header.span_ns(value) if span == "TICKS" else value * _UNITS_NS[span]
        else:
            ns = header.to_ns(value) if stamp == "TICKS" else value * 10**6
        return ns if -(1 << 63) < ns < 1 << 63 and value > -(1 << 63) else None

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
        decoder = self._chunk.decoder
        if column.operation == ops.STRING:
            strings = decoder.strings(owner, column.number, self._chunk.string_pool())
            return lambda row: quoted(strings[row])
        if column.operation == ops.BOOLEAN:
            flags = self._numbers(owner, column)
            return lambda row: "true" if flags[row] else "false"
        if column.operation in (ops.FLOAT, ops.DOUBLE):
            mark, code = ("f", "I") if column.operation == ops.FLOAT else ("d", "Q")
            bits = decoder.column(owner, column.number).cast("B").cast(code).tolist()
            return lambda row: f"{mark}{bits[row]:x}"
        values = self._numbers(owner, column)
        return lambda row: str(values[row])
