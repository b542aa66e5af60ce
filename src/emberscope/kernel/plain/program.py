"""Programs as they are given (a flat list of ints) made into a tree, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from emberscope.kernel.ops import (
    ARRAY,
    BOOLEAN,
    BYTE,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    MAX_NESTING,
    MAX_OPS,
    SHORT,
    STRING,
)

FORMATS: Final = {
    LONG: "q",
    INT: "i",
    SHORT: "h",
    CHAR: "H",
    BYTE: "b",
    BOOLEAN: "B",
    FLOAT: "f",
    DOUBLE: "d",
    ARRAY: "q",
}
"""Formats of the columns of each operation; a column of STRING has none."""


class Step(NamedTuple):
    """An operation, the column that takes its values (-1: none) and, of an array, the steps of an element."""

    operation: int
    column: int
    element: tuple[Step, ...] = ()


def steps(ops: Sequence[int]) -> tuple[Step, ...]:
    """The program as a tree. Raises `ValueError` for one that breaks the rules of `emberscope.kernel.ops`."""
    columns: set[int] = set()
    parsed, count = _parse(ops, 0, len(ops), 0, columns)
    if count > MAX_OPS:
        raise ValueError(f"a program of more than {MAX_OPS} operations")
    return parsed


def _parse(ops: Sequence[int], start: int, end: int, depth: int, columns: set[int]) -> tuple[tuple[Step, ...], int]:
    if (end - start) % 3:
        raise ValueError("a program is a list of triples")
    parsed: list[Step] = []
    count = 0
    at = start
    while at < end:
        operation, column, length = ops[at : at + 3]
        at += 3
        count += 1
        if operation != STRING and operation not in FORMATS:
            raise ValueError(f"unknown operation {operation}")
        if not -1 <= column < MAX_OPS or column in columns:
            raise ValueError(f"column {column} is used twice or impossible")
        if column >= 0:
            columns.add(column)
        element: tuple[Step, ...] = ()
        if operation == ARRAY:
            if not 0 <= length <= end - at or depth == MAX_NESTING:
                raise ValueError("an array's program is too long or nested too deep")
            element, inner = _parse(ops, at, at + length, depth + 1, columns)
            count += inner
            at += length
        elif length:
            raise ValueError("only an array has a length")
        parsed.append(Step(operation, column, element))
    return tuple(parsed), count
