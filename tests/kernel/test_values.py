from __future__ import annotations

import struct
from typing import Any

import pytest

from emberscope.kernel.ops import ARRAY, BOOLEAN, BYTE, CHAR, DOUBLE, FLOAT, INT, LONG, SHORT
from tests.jfr.writer import varint
from tests.kernel.records import Writer, decoded

_LONGS = [0, 1, 127, 128, 16383, 16384, 2**21 - 1, 2**21, 2**28 - 1, 2**28, 2**35, 2**42, 2**49 - 1, 2**49, 2**56 - 1]
_LONGS += [2**56, 2**63 - 1, -1, -(2**31), -(2**63)]


def _one(kernel: Any, compressed: bool, operation: int, payloads: list[bytes]) -> memoryview:
    writer = Writer(compressed)
    for payload in payloads:
        writer.event(7, payload)
    decoder = decoded(kernel, writer, {7: [operation, 0, 0]})
    assert decoder.broken(7) == 0
    assert decoder.rows(7) == decoder.counts()[7] == len(payloads)
    view: memoryview = decoder.column(7, 0)
    return view


def test_longs(kernel: Any, compressed: bool) -> None:
    column = _one(kernel, compressed, LONG, [Writer(compressed).long(v) for v in _LONGS])
    assert (column.format, column.ndim, column.tolist()) == ("q", 1, _LONGS)


@pytest.mark.parametrize(
    ("operation", "form", "values"),
    [
        (INT, "i", [0, 127, 128, 16384, 2**21, 2**28, 2**31 - 1, -1, -(2**31)]),
        (SHORT, "h", [0, 127, 128, 16383, 16384, 32767, -1, -32768]),
        (CHAR, "H", [0, 127, 128, 16384, 32768, 65535]),
    ],
)
def test_narrow_integers(kernel: Any, compressed: bool, operation: int, form: str, values: list[int]) -> None:
    writer = Writer(compressed)
    write = {INT: writer.int, SHORT: writer.short, CHAR: writer.char}[operation]
    column = _one(kernel, compressed, operation, [write(v) for v in values])
    assert (column.format, column.tolist()) == (form, values)


@pytest.mark.parametrize(
    ("operation", "value", "cut"),
    [
        (INT, -5, -5),
        (INT, 2**31, -(2**31)),
        (INT, 2**32 + 3, 3),
        (INT, 2**63 - 1, -1),
        (SHORT, -5, -5),
        (SHORT, 32768, -32768),
        (SHORT, 65536 + 9, 9),
        (CHAR, -1, 65535),
        (CHAR, 65536 + 9, 9),
    ],
)
def test_compressed_values_are_cut_to_their_width(kernel: Any, operation: int, value: int, cut: int) -> None:
    assert _one(kernel, True, operation, [varint(value)]).tolist() == [cut]


def test_a_compressed_integer_may_be_padded(kernel: Any) -> None:
    assert _one(kernel, True, LONG, [b"\x85\x80\x80\x00", b"\x81" + b"\x80" * 7 + b"\x00"]).tolist() == [5, 1]


def test_the_ninth_byte_gives_all_its_bits(kernel: Any) -> None:
    column = _one(kernel, True, LONG, [b"\x80" * 8 + b"\x80", b"\xff" * 9, b"\xff" * 8 + b"\x7f"])
    assert column.tolist() == [-(2**63), -1, 2**63 - 1]


def test_bytes(kernel: Any, compressed: bool) -> None:
    values = [b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff"]
    signed = _one(kernel, compressed, BYTE, values)
    assert (signed.format, signed.tolist()) == ("b", [0, 1, 127, -128, -1])
    flags = _one(kernel, compressed, BOOLEAN, values)
    assert (flags.format, flags.tolist()) == ("B", [0, 1, 127, 128, 255])


@pytest.mark.parametrize(("operation", "form"), [(FLOAT, "f"), (DOUBLE, "d")])
def test_floats_keep_their_bits(kernel: Any, compressed: bool, operation: int, form: str) -> None:
    signalling = {"f": "7f800001", "d": "7ff0000000000001"}[form]
    payloads = [struct.pack(f">{form}", v) for v in (0.0, -0.0, 1.5, 3e38, float("inf"))] + [bytes.fromhex(signalling)]
    column = _one(kernel, compressed, operation, payloads)
    assert column.format == form
    width = column.itemsize
    native = bytes(column)
    assert [native[at : at + width][::-1] for at in range(0, len(native), width)] == payloads
    assert column[2] == 1.5


def test_floats_of_two_calls(kernel: Any) -> None:
    writer = Writer()
    writer.event(7, struct.pack(">d", 1.25))
    middle = writer.event(7, struct.pack(">d", 2.5))
    decoder = kernel.Decoder(bytes(writer.body), True)
    decoder.program(7, [DOUBLE, 0, 0])
    assert decoder.events(0, middle, None) == middle
    assert decoder.column(7, 0).tolist() == [1.25]
    decoder.events(middle, len(writer.body), None)
    assert decoder.column(7, 0).tolist() == [1.25, 2.5]


@pytest.mark.parametrize(
    ("operation", "width"),
    [(LONG, 8), (INT, 4), (SHORT, 2), (CHAR, 2), (BYTE, 1), (BOOLEAN, 1), (FLOAT, 4), (DOUBLE, 8)],
)
@pytest.mark.parametrize("column", [0, -1])
def test_a_value_beyond_its_event_breaks_it(
    kernel: Any, compressed: bool, operation: int, width: int, column: int
) -> None:
    writer = Writer(compressed)
    writer.event(7, b"\xff" * (width - 1))
    writer.event(7, b"\x01" * width)
    writer.event(8, b"\x01" * 12)  # what follows in the data does not make the first event longer
    decoder = decoded(kernel, writer, {7: [operation, column, 0, INT, -1, 0] if width == 9 else [operation, column, 0]})
    assert (decoder.rows(7), decoder.broken(7), decoder.counts()) == (1, 1, {7: 2, 8: 1})


def test_skipped_values(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    skipped = writer.long(-1) + writer.int(300) + writer.short(-1) + writer.char(7) + b"\1\2" + bytes(12)
    writer.event(7, skipped + writer.text("näh", 4) + writer.text("ä") + b"\2" + writer.long(-9) + writer.long(42))
    ops = [op for kind in (LONG, INT, SHORT, CHAR, BYTE, BOOLEAN, FLOAT, DOUBLE, 8, 8, 8) for op in (kind, -1, 0)]
    decoder = decoded(kernel, writer, {7: [*ops, LONG, 3, 0]})
    assert decoder.column(7, 3).tolist() == [42]


def test_zero_fields(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(7)
    writer.event(7, b"more than is described")
    assert decoded(kernel, writer, {7: []}).rows(7) == 2


def test_arrays(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    for values in ([], [1], [2, -3, 2**40]):
        writer.event(7, writer.int(len(values)) + b"".join(map(writer.long, values)) + writer.int(9))
    decoder = decoded(kernel, writer, {7: [ARRAY, 0, 3, LONG, 1, 0, INT, 2, 0]})
    assert (decoder.column(7, 0).format, decoder.column(7, 0).tolist()) == ("q", [0, 1, 3])
    assert decoder.column(7, 1).tolist() == [1, 2, -3, 2**40]
    assert decoder.column(7, 2).tolist() == [9, 9, 9]


def test_long_arrays(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    lengths = [15, 16, 17, 32, 33, 1000]
    for length in lengths:
        writer.event(7, writer.int(length) + b"".join(writer.long(i) + b"\5" for i in range(-length, 0)))
    decoder = decoded(kernel, writer, {7: [ARRAY, -1, 6, LONG, 1, 0, BYTE, 2, 0]})
    assert decoder.column(7, 1).tolist() == [i for length in lengths for i in range(-length, 0)]
    assert set(decoder.column(7, 2)) == {5}


def test_arrays_of_structs_without_fields(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(7, writer.int(3) + b"abc")  # three elements of no bytes, and three bytes after them
    writer.event(7, writer.int(4) + b"abc")  # more elements than there are bytes
    writer.event(7, writer.int(-1) + b"abc")
    decoder = decoded(kernel, writer, {7: [ARRAY, 0, 0]})
    assert (decoder.column(7, 0).tolist(), decoder.broken(7)) == ([3], 2)


@pytest.mark.parametrize("ops", [[ARRAY, 0, 3, BYTE, 1, 0], [ARRAY, -1, 3, BYTE, -1, 0], [ARRAY, -1, 3, 8, -1, 0]])
def test_impossible_counts_of_an_array(kernel: Any, compressed: bool, ops: list[int]) -> None:
    writer = Writer(compressed)
    for count in (4, -1, 2**31 - 1, -(2**31)):
        writer.event(7, writer.int(count) + bytes(3))
    writer.event(7, writer.int(3) + bytes(3))
    decoder = decoded(kernel, writer, {7: ops})
    assert (decoder.rows(7), decoder.broken(7)) == (1, 4)


def test_nested_arrays(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    inner = [writer.int(2) + writer.int(5) + writer.int(6), writer.int(0), writer.int(1) + writer.int(7)]
    writer.event(7, writer.int(3) + b"".join(inner))
    writer.event(7, writer.int(0))
    writer.event(7, writer.int(1) + inner[2])
    decoder = decoded(kernel, writer, {7: [ARRAY, 0, 6, ARRAY, 1, 3, INT, 2, 0]})
    assert [decoder.column(7, i).tolist() for i in range(3)] == [[3, 0, 1], [2, 0, 1, 1], [5, 6, 7, 7]]


def test_values_of_a_broken_record_are_taken_back(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)

    def payload(value: int, last: bytes) -> bytes:
        inner = writer.int(2) + writer.int(value) + writer.text(str(value)) + writer.int(value) + writer.text("x")
        flat = writer.int(2) + writer.int(value) + writer.int(-value)
        return writer.int(value) + writer.int(1) + inner + struct.pack(">f", value) + flat + last

    good = writer.text("good")
    broken = [b"", b"\6", b"\3" + writer.int(2) + b"a"]
    for value, last in enumerate([good, broken[0], good, good, broken[1], broken[2], good], 1):
        writer.event(7, payload(value, last))
    array_of_arrays = [ARRAY, -1, 9, ARRAY, 1, 6, INT, 2, 0, 8, 3, 0]
    decoder = decoded(kernel, writer, {7: [INT, 0, 0, *array_of_arrays, FLOAT, 4, 0, ARRAY, 5, 3, INT, 6, 0, 8, 7, 0]})
    assert (decoder.rows(7), decoder.broken(7)) == (4, 3)
    assert decoder.column(7, 0).tolist() == [1, 3, 4, 7]
    assert decoder.column(7, 1).tolist() == [2, 2, 2, 2]
    assert decoder.column(7, 2).tolist() == [1, 1, 3, 3, 4, 4, 7, 7]
    assert decoder.strings(7, 3, None) == ["1", "x", "3", "x", "4", "x", "7", "x"]
    assert decoder.column(7, 4).tolist() == [1, 3, 4, 7]
    assert decoder.column(7, 5).tolist() == [2, 2, 2, 2]
    assert decoder.column(7, 6).tolist() == [1, -1, 3, -3, 4, -4, 7, -7]
    assert decoder.strings(7, 7, None) == ["good"] * 4


@pytest.mark.parametrize("ops", [[LONG, 0, 0], [ARRAY, 1, 3, LONG, 0, 0]])
def test_columns_do_not_grow_under_a_view(kernel: Any, ops: list[int]) -> None:
    writer = Writer()
    writer.event(7, b"\1\1")
    writer.event(8, b"\1\1")
    decoder = decoded(kernel, writer, {7: ops, 8: ops})
    view = decoder.column(7, 0)
    decoder.column(8, 0).release()
    with pytest.raises(BufferError):
        decoder.events(0, len(writer.body), None)
    assert view.tolist() == [1]


def test_a_view_outlives_its_decoder(kernel: Any) -> None:
    writer = Writer()
    writer.event(7, b"\5")
    view = decoded(kernel, writer, {7: [LONG, 0, 0]}).column(7, 0)
    assert view.tolist() == [5]


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: memoryview(b"xx" + b)[2:]])
def test_data_of_any_buffer(kernel: Any, wrap: Any) -> None:
    writer = Writer()
    writer.event(7, b"\5")
    decoder = kernel.Decoder(wrap(bytes(writer.body)), True)
    decoder.program(7, [LONG, 0, 0])
    decoder.events(0, len(writer.body), None)
    assert decoder.column(7, 0).tolist() == [5]
