"""Rows of events as lines of CSV or JSON, whole columns at a time.

JSON: times are epoch milliseconds with six digits after the dot, exact to the nanosecond; time spans are nanoseconds;
NaN and the infinities, which JSON does not know, are null. CSV: times as in ISO 8601 with nine digits, time spans in
nanoseconds, lists as JSON, nothing where a value is null and `""` for an empty text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def csv_header(names: Sequence[str]) -> str:
    return ",".join(map(_quoted, names)) + "\n"


def csv_lines(table: pa.Table, names: Sequence[str]) -> pa.Buffer:
    """A line for each row, with the columns in this order; one that the table lacks is empty."""
    columns = [_by_name(table, name, _csv, "") for name in names]
    if not columns:  # a type without fields: damage, or an event that only happens
        return pa.py_buffer(b"\n" * max(0, table.num_rows - 1))
    return _joined(pc.binary_join_element_wise(*columns, ","), "\n")


def json_objects(table: pa.Table, names: Sequence[str]) -> pa.Buffer:
    """An object for each row, one a line, with commas between them and none at the end."""
    pieces: list[Any] = []
    for name in names:
        before = "," if pieces else "{"
        pieces += [f"{before}{json.dumps(name, ensure_ascii=False)}:", _by_name(table, name, _json, "null")]
    lines = pc.binary_join_element_wise(*pieces, "}", "") if pieces else pa.array(["{}"] * table.num_rows)
    return _joined(lines, ",\n")


def type_name(kind: pa.DataType) -> str:
    """The type of a column in one word."""
    if pa.types.is_dictionary(kind):
        return type_name(kind.value_type)
    if pa.types.is_list(kind):
        return "list"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return "duration" if pa.types.is_duration(kind) else str(kind)


def _by_name(table: pa.Table, name: str, texts: Callable[[pa.Array], pa.Array], null: str) -> pa.Array:
    place = table.schema.get_field_index(name)
    if place < 0:
        return pa.array([null] * table.num_rows, pa.string())
    values = table.column(place)
    whole = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    return pc.fill_null(texts(whole), null)


def _joined(lines: pa.Array, between: str) -> pa.Buffer:
    if not len(lines):
        return pa.py_buffer(b"")
    one = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return pc.binary_join(one, between)[0].as_buffer()


def _csv(values: pa.Array) -> pa.Array:
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _csv(values.dictionary).take(values.indices)
    if pa.types.is_string(kind):
        return pa.array([None if text is None else _quoted(text) for text in values.to_pylist()], pa.string())
    if pa.types.is_timestamp(kind):
        return pc.replace_substring(pc.cast(values, pa.string()), " ", "T")
    if pa.types.is_duration(kind):
        return pc.cast(values.cast(pa.int64()), pa.string())
    if pa.types.is_nested(kind):
        texts = _json(values)
        quoted = pa.array([None if text is None else _quoted(text) for text in texts.to_pylist()], pa.string())
        return pc.if_else(values.is_valid(), quoted, pa.scalar(None, pa.string()))
    return pc.cast(values, pa.string())


def _quoted(text: str) -> str:
    if text and text.strip() == text and not any(sign in text for sign in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _json(values: pa.Array) -> pa.Array:
    """JSON of each value; null for a null, which only whoever puts it into something writes out."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _json(values.dictionary).take(values.indices)
    if pa.types.is_string(kind):
        encode = json.JSONEncoder(ensure_ascii=False).encode
        return pa.array([None if text is None else encode(text) for text in values.to_pylist()], pa.string())
    if pa.types.is_timestamp(kind):
        return _milliseconds(values.cast(pa.int64()))
    if pa.types.is_duration(kind):
        return pc.cast(values.cast(pa.int64()), pa.string())
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_finite(values), pc.cast(values, pa.string()), pa.scalar(None, pa.string()))
    if pa.types.is_struct(kind):
        pieces: list[Any] = []
        for place, field in enumerate(kind):
            before = "," if pieces else "{"
            inner = pc.fill_null(_json(values.field(place)), "null")
            pieces += [f"{before}{json.dumps(field.name, ensure_ascii=False)}:", inner]
        texts = pc.binary_join_element_wise(*pieces, "}", "") if pieces else pa.array(["{}"] * len(values))
        return pc.if_else(values.is_valid(), texts, pa.scalar(None, pa.string()))
    if pa.types.is_list(kind):
        inner = pc.fill_null(_json(values.flatten()), "null")
        lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
        offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
        joined = pc.binary_join(pa.ListArray.from_arrays(offsets, inner), ",")
        texts = pc.binary_join_element_wise("[", joined, "]", "")
        return pc.if_else(values.is_valid(), texts, pa.scalar(None, pa.string()))
    return pc.cast(values, pa.string())


def _milliseconds(ns: pa.Array) -> pa.Array:
    """Decimals of milliseconds from nanoseconds."""
    known = pc.is_valid(ns)
    numbers = pc.fill_null(ns, 0).to_numpy(zero_copy_only=False)
    sizes = np.where(numbers < 0, np.uint64(0) - numbers.astype(np.uint64), numbers.astype(np.uint64))
    whole, rest = np.divmod(sizes, np.uint64(1_000_000))
    digits = pc.utf8_lpad(pc.cast(pa.array(rest), pa.string()), 6, "0")
    texts = pc.binary_join_element_wise(pc.cast(pa.array(whole), pa.string()), digits, ".")
    texts = pc.binary_join_element_wise(pc.if_else(pa.array(numbers < 0), "-", ""), texts, "")
    return pc.if_else(known, texts, pa.scalar(None, pa.string()))
