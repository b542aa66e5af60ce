"""The frames of stack traces as they were decoded: one place per frame, leaf first.

A place is what tells a frame from others before it is looked at: the bytes of the frame as they are in the file or,
where frames are no flat array, the values. Few places are distinct, so that their values are read once for many frames.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from emberscope.kernel.ops import ARRAY, BOOLEAN, INT, LONG
from emberscope.kernel.plain.columns import Columns, Flat
from emberscope.kernel.plain.flat import element_pattern
from emberscope.kernel.plain.reader import pool_reader

Values: TypeAlias = tuple[int, int | None, int]
"""Method, frame type (None where it was not asked for), line (0 where it was not asked for)."""


class Traces(NamedTuple):
    """Of each row: whether the recorder cut its root side, the places of its frames; of each place the values."""

    truncated: Callable[[int], int]
    places: Callable[[int], list[Any]]
    values: Callable[[Any], Values]


def traces(columns: Columns, trace: tuple[int, int, int, int, int]) -> Traces:
    """`trace` are the columns truncated (or -1), counts of frames, method, frame type (or -1), line (or -1).

    Raises `KeyError`, `TypeError` or `ValueError` for columns that are not there, not so, or not of one size.
    """
    truncated, lengths, method, frame_type, line = trace
    flags = of_records(columns, truncated, BOOLEAN) if truncated >= 0 else bytes(columns.rows)
    counts = of_records(columns, lengths, ARRAY)
    wanted = [(method, LONG), *((c, o) for c, o in ((frame_type, LONG), (line, INT)) if c >= 0)]
    flat = columns.flat.get(method)
    if flat is not None and flat.lengths is counts and all(columns.flat.get(column) is flat for column, _ in wanted):
        for column, operation in wanted:
            columns.check(column, operation)
        return Traces(flags.__getitem__, *_unread(columns, flat, (method, frame_type, line)))
    size = sum(counts)
    values = [_of_frames(columns, column, operation, size) for column, operation in wanted]
    return Traces(flags.__getitem__, *_read(counts, values, frame_type >= 0, line >= 0))


def _unread(
    columns: Columns, flat: Flat, wanted: tuple[int, int, int]
) -> tuple[Callable[[int], list[Any]], Callable[[Any], Values]]:
    """The places and values of frames that are still bytes."""
    b, starts, stops = columns.bytes, flat.starts, flat.stops
    find = element_pattern(flat.element, columns.compressed).findall
    read = pool_reader(flat.element, columns.compressed)
    order = [flat.columns.index(column) if column >= 0 else -1 for column in wanted]

    def places(row: int) -> list[Any]:
        return find(b, starts[row], stops[row])

    def values(place: bytes) -> Values:
        found: list[int] = []
        read(place, 0, len(place), iter((0,)), (found.append,) * len(flat.columns))
        method, frame_type, line = order
        return found[method], found[frame_type] if frame_type >= 0 else None, found[line] if line >= 0 else 0

    return places, values


def _read(
    counts: array[int], columns: list[array[int]], has_type: bool, has_line: bool
) -> tuple[Callable[[int], list[Any]], Callable[[Any], Values]]:
    """The places and values of frames that were read as columns."""
    starts = [0, *accumulate(counts)]

    def places(row: int) -> list[Any]:
        return list(zip(*(column[starts[row] : starts[row + 1]] for column in columns), strict=True))

    def values(place: tuple[int, ...]) -> Values:
        return place[0], place[1] if has_type else None, place[-1] if has_line else 0

    return places, values


def of_records(columns: Columns | None, column: int, operation: int) -> array[Any]:
    """A column of an operation with a value for each record; an empty one where the type has no program.

    Raises `KeyError` or `TypeError` for one that is not so.
    """
    if columns is None:
        return array("q")
    columns.check(column, operation)
    columns.outside(column)
    return columns.numbers(column)


def _of_frames(columns: Columns, column: int, operation: int, size: int) -> array[Any]:
    columns.check(column, operation)
    numbers = columns.numbers(column)
    if len(numbers) != size:
        raise ValueError(f"column {column} has {len(numbers)} values and should have {size}")
    return numbers
