from __future__ import annotations

from typing import Any

import pytest

from emberscope.kernel.ops import ARRAY, LONG, STRING
from tests.kernel.records import STRINGS, Writer, checkpoint, decoded

_OPS = {7: [STRING, 0, 0], STRINGS: [LONG, 0, 0, STRING, 1, 0]}


def _texts(kernel: Any, writer: Writer, payloads: list[bytes], broken: int = 0) -> list[str | None]:
    for payload in payloads:
        writer.event(7, payload)
    decoder = decoded(kernel, writer, _OPS)
    assert decoder.broken(7) == broken
    texts: list[str | None] = decoder.strings(7, 0, (STRINGS, 1))
    return texts


def test_encodings(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    euro = "€ und 😀"
    payloads = [b"\0", b"\1", writer.text(euro), writer.text(euro, 4), writer.text("grün", 5), writer.text("", 3)]
    payloads += [writer.text("", 4), writer.text("", 5), writer.text("ascii", 4), writer.text("x" * 20000, 3)]
    expected = [None, "", euro, euro, "grün", "", "", "", "ascii", "x" * 20000]
    assert _texts(kernel, writer, payloads) == expected


def test_bytes_that_are_no_utf8(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    raw = [b"a\xffb", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98x", b"\xc0\x80", b"\xf5\x80\x80\x80", b"nul\0"]
    payloads = [b"\3" + writer.int(len(b)) + b for b in raw]
    assert _texts(kernel, writer, payloads) == [b.decode("utf-8", "replace") for b in raw]


def test_surrogates_without_partner(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    texts = ["\ud83d", "\ude00", "a\ud83dz", "a\ude00z", "\ude00\ud83d", "\ud83d\ud83d\ude00", "\ud83d\ude00"]
    expected = ["�", "�", "a�z", "a�z", "��", "�😀", "😀"]
    payloads = [b"\4" + _units(writer, text) for text in texts]
    assert _texts(kernel, writer, payloads) == expected


def _units(writer: Writer, text: str) -> bytes:
    return writer.int(len(text)) + b"".join(writer.char(ord(c)) for c in text)


def test_units_are_cut_to_16_bits(kernel: Any) -> None:
    writer = Writer()
    assert _texts(kernel, writer, [b"\4\2" + writer.long(65536 + 65) + writer.long(-1)]) == ["A\uffff"]


@pytest.mark.parametrize("encoding", [6, 7, 128, 255])
@pytest.mark.parametrize("column", [0, -1])
def test_unknown_encodings(kernel: Any, compressed: bool, encoding: int, column: int) -> None:
    writer = Writer(compressed)
    writer.event(7, bytes([encoding]) + bytes(9))
    writer.event(7, b"\1")
    decoder = decoded(kernel, writer, {7: [STRING, column, 0]})
    assert (decoder.rows(7), decoder.broken(7)) == (1, 1)


@pytest.mark.parametrize("encoding", [3, 4, 5])
@pytest.mark.parametrize("count", [4, -1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("column", [0, -1])
def test_impossible_lengths(kernel: Any, compressed: bool, encoding: int, count: int, column: int) -> None:
    writer = Writer(compressed)
    writer.event(7, bytes([encoding]) + writer.int(count) + b"abc")
    writer.event(7, b"\1")
    decoder = decoded(kernel, writer, {7: [STRING, column, 0]})
    assert (decoder.rows(7), decoder.broken(7)) == (1, 1)


@pytest.mark.parametrize("column", [0, -1])
def test_units_beyond_the_event(kernel: Any, column: int) -> None:
    writer = Writer()
    writer.event(7, b"\4\2\x80\x80")
    writer.event(7, b"\4\2\x80\x01\x41")
    decoder = decoded(kernel, writer, {7: [STRING, column, 0]})
    assert (decoder.rows(7), decoder.broken(7)) == (1, 1)


def test_nothing_where_a_string_should_be(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    assert _texts(kernel, writer, [b"", b"\2", b"\3", b"\1"], broken=3) == [""]


def test_references(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    pool = [
        writer.long(5) + writer.text("old"),
        writer.long(-6) + writer.text("six"),
        writer.long(7) + b"\0",
        writer.long(8) + b"\2" + writer.long(5),
        writer.long(5) + writer.text("new"),
        writer.long(0) + writer.text("zero"),
    ]
    checkpoint(writer, (STRINGS, pool))
    payloads = [b"\2" + writer.long(key) for key in (5, -6, 7, 8, 9, 0)]
    assert _texts(kernel, writer, payloads) == ["new", "six", None, None, None, "zero"]


def test_references_see_what_came_later(kernel: Any) -> None:
    writer = Writer()
    writer.event(7, b"\2\5")
    first = checkpoint(writer, (STRINGS, [b"\5" + writer.text("old")]))
    second = checkpoint(writer, (STRINGS, [b"\5" + writer.text("new")]))
    decoder = kernel.Decoder(bytes(writer.body), True)
    for type_id, ops in _OPS.items():
        decoder.program(type_id, ops)
    decoder.events(0, len(writer.body), None)
    seen = []
    for position in (first, second):
        decoder.checkpoints([position])
        seen.append(decoder.strings(7, 0, (STRINGS, 1)))
    assert seen == [["old"], ["new"]]


def test_references_without_a_pool(kernel: Any) -> None:
    writer = Writer()
    writer.event(7, b"\2\5")
    writer.event(7, writer.text("text"))
    decoder = decoded(kernel, writer, {7: [STRING, 0, 0], 8: [STRING, 1, 0]})
    assert decoder.strings(7, 0, None) == [None, "text"]
    assert decoder.strings(7, 0, (8, 1)) == [None, "text"]  # a pool without keys


def test_strings_in_arrays(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    for texts in (["a"], [], ["b", "c", "d"]):
        writer.event(7, writer.int(len(texts)) + b"".join(map(writer.text, texts)))
    decoder = decoded(kernel, writer, {7: [ARRAY, 0, 3, STRING, 1, 0]})
    assert decoder.strings(7, 1, None) == ["a", "b", "c", "d"]
    with pytest.raises(TypeError):
        decoder.strings(7, 1, (7, 1))
    with pytest.raises(TypeError):
        decoder.strings(7, 0, None)
