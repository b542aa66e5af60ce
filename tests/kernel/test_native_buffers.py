"""The memory that the kernel in C lends out."""

from __future__ import annotations

import gc
import sys
import weakref

import pytest

from emberscope.kernel.ops import ARRAY, BOOLEAN, LONG, STRING

native = pytest.importorskip("emberscope.kernel._native")

EVENT = b"\x04\x07\x05\x00"
"""An event of 4 bytes of type 7: a LONG of 5, an array without elements."""
PROGRAM = [LONG, 0, 0, ARRAY, 1, 3, LONG, 2, 0]


def _decoder(data: bytes = EVENT * 3) -> native.Decoder:
    decoder = native.Decoder(data, True)
    decoder.program(7, PROGRAM)
    return decoder


def test_a_column_is_flat_and_read_only() -> None:
    decoder = _decoder()
    decoder.events(0, 12, None)
    column = decoder.column(7, 0)
    assert (column.format, column.itemsize, column.ndim, column.shape, column.strides) == ("q", 8, 1, (3,), (8,))
    assert column.contiguous
    assert column.readonly
    assert column.tolist() == [5, 5, 5]
    with pytest.raises(TypeError):
        column[0] = 1


def test_a_column_without_values_is_a_view_too() -> None:
    column = _decoder(b"").column(7, 2)
    assert (column.format, column.tolist()) == ("q", [])


def test_a_view_keeps_the_memory_of_a_decoder_that_is_gone() -> None:
    decoder = _decoder(EVENT * 100_000)
    decoder.events(0, 400_000, None)
    column = decoder.column(7, 0)
    del decoder
    gc.collect()
    assert set(column) == {5}


def test_a_column_does_not_grow_while_it_is_viewed() -> None:
    decoder = _decoder()
    decoder.events(0, 4, None)
    column = decoder.column(7, 1)
    part = column[:0]
    with pytest.raises(BufferError):
        decoder.events(4, 12, None)
    column.release()
    with pytest.raises(BufferError):
        decoder.events(4, 12, None)
    part.release()
    assert decoder.events(4, 12, None) == 12
    assert decoder.rows(7) == 3
    assert decoder.counts() == {7: 3}


def test_a_view_of_one_type_leaves_the_others_alone() -> None:
    decoder = _decoder(EVENT + b"\x03\x08\x01" + EVENT)
    decoder.program(8, [LONG, 0, 0])
    decoder.events(0, 4, None)
    column = decoder.column(7, 0)
    decoder.events(4, 7, None)
    assert (column.tolist(), decoder.rows(8)) == ([5], 1)


def test_stacks_hold_their_columns() -> None:
    checkpoint = b"\x0c\x01\0\0\0\0\x01\x17\x01\x09\x05\0"  # one symbol
    decoder = native.Decoder(checkpoint, True)
    decoder.program(20, [LONG, 0, 0, BOOLEAN, 1, 0, ARRAY, 2, 3, LONG, 3, 0])
    decoder.program(21, [LONG, 0, 0, LONG, 1, 0, LONG, 2, 0])
    decoder.program(22, [LONG, 0, 0, LONG, 1, 0])
    decoder.program(23, [LONG, 0, 0, STRING, 1, 0])
    stacks = native.Stacks(decoder, (20, 1, 2, 3, -1, -1), (21, 1, 2), (22, 1), (23, 1), None, {})
    assert stacks.size() == 1
    with pytest.raises(BufferError):
        decoder.checkpoints([0])
    del stacks
    assert decoder.checkpoints([0]) == []
    assert decoder.rows(23) == 1


def test_results_are_the_callers_own() -> None:
    rows = native.where(memoryview(b"\1" + bytes(7)), frozenset({1}))
    assert not rows.readonly
    rows[0] = 7
    assert rows.tolist() == [7]


def test_the_data_is_held_and_let_go() -> None:
    data = bytearray(EVENT)
    decoder = native.Decoder(data, True)
    with pytest.raises(BufferError):
        data.append(0)
    del decoder
    data.append(0)


def test_references_are_given_back() -> None:
    data = EVENT * 10
    before = sys.getrefcount(data)
    for _ in range(50):
        decoder = _decoder(data)
        decoder.events(0, 40, frozenset({7}))
        views = [decoder.column(7, column) for column in range(3)]
        with pytest.raises(KeyError):
            decoder.column(7, 9)
        with pytest.raises(ValueError, match="program"):
            decoder.program(7, PROGRAM)
        assert decoder.lookup(7, bytes(8)).tolist() == [-1]
        del decoder, views
    assert sys.getrefcount(data) == before


def test_names_are_given_back() -> None:
    class Name(str):
        pass

    name = Name("a")
    gone = weakref.ref(name)
    parents, frames, weights = (memoryview(bytes(4)) for _ in range(3))
    with pytest.raises(ValueError, match="length"):
        native.folded(parents, frames, memoryview(bytes(16)), [name])
    assert native.folded(parents.cast("i"), frames.cast("i"), memoryview(bytes(8)).cast("q"), [name]) == b""
    del name, weights
    assert gone() is None
