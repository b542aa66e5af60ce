"""What a table is: named columns, each with an Arrow type, a unit, a meaning and a source.

Arrow is imported on use, not at import, so that `emberscope --version` stays instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


class Column(NamedTuple):
    """One column. `type` is an Arrow type by name (`int64`, `string`, `list<int32>`); null means "not known"."""

    name: str
    type: str
    unit: str
    doc: str
    source: str

    def arrow_type(self) -> pa.DataType:
        import pyarrow as pa

        if self.type.startswith("list<"):
            return pa.list_(pa.type_for_alias(self.type[5:-1]))
        if self.type == "category":
            return pa.dictionary(pa.int32(), pa.string())
        return pa.type_for_alias(self.type)


class Table(NamedTuple):
    """A named table of the vocabulary. `doc` says what one row is."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    def schema(self) -> pa.Schema:
        """The Arrow schema, with `unit`, `doc` and `source` as field metadata."""
        import pyarrow as pa

        return pa.schema(
            [
                pa.field(c.name, c.arrow_type(), metadata={"unit": c.unit, "doc": c.doc, "source": c.source})
                for c in self.columns
            ],
            metadata={"table": self.name, "doc": self.doc},
        )

    def empty(self) -> pa.Table:
        return self.schema().empty_table()

    def from_columns(self, columns: Mapping[str, Sequence[Any] | Any]) -> pa.Table:
        """A table of these columns (lists, numpy or Arrow arrays of one length); those not given are null.

        Raises `KeyError` for a name that this table does not have.
        """
        import pyarrow as pa

        unknown = columns.keys() - {c.name for c in self.columns}
        if unknown:
            raise KeyError(f"table {self.name} has no column {sorted(unknown)}")
        length = max((len(values) for values in columns.values()), default=0)
        arrays = []
        for column in self.columns:
            values = columns.get(column.name)
            kind = column.arrow_type()
            if values is None:
                arrays.append(pa.nulls(length, kind))
            elif isinstance(values, pa.Array | pa.ChunkedArray):
                arrays.append(values if values.type == kind else values.cast(kind))
            elif column.type == "category":
                arrays.append(pa.array(values, pa.string()).dictionary_encode())
            else:
                arrays.append(pa.array(values, kind))
        return pa.Table.from_arrays(arrays, schema=self.schema())

    def from_rows(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        """A table of these rows (dictionaries); keys that a row lacks are null there."""
        names = {name for row in rows for name in row}
        return self.from_columns({name: [row.get(name) for row in rows] for name in names})
