"""Laws of the primitive encodings."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.jfr.encoding import (
    BROKEN,
    Integers,
    after_string,
    after_varint,
    char_varint,
    int_varint,
    short_varint,
    string,
    varint,
)
from tests.jfr import writer

COMPRESSED = Integers(True)
longs = st.integers(-(1 << 63), (1 << 63) - 1)


@given(longs, st.binary(max_size=12))
def test_any_long_comes_back(value: int, rest: bytes) -> None:
    data = writer.varint(value) + rest
    end = len(data) - len(rest)
    assert varint(data, 0) == (value, end)
    assert after_varint(data, 0) == end


def test_the_ninth_byte_ends_a_number_whatever_it_is() -> None:
    assert varint(b"\xff" * 9 + b"\x01", 0) == (-1, 9)
    assert varint(b"\xff" * 8 + b"\x7f\x01", 0) == ((1 << 63) - 1, 9)
    assert after_varint(b"\xff" * 9 + b"\x01", 0) == 9


def test_padding_is_no_part_of_a_number() -> None:
    assert varint(bytes([0x85, 0x80, 0x80, 0x00]), 0) == (5, 4)


@given(st.integers(-(1 << 31), (1 << 31) - 1))
def test_negative_numbers_are_cut_to_their_width(value: int) -> None:
    assert int_varint(writer.varint(value & 0xFFFFFFFF), 0)[0] == value
    assert int_varint(writer.varint(value), 0)[0] == value
    short = (value & 0x7FFF) - (value & 0x8000)
    assert short_varint(writer.varint(value & 0xFFFF), 0)[0] == short
    assert char_varint(writer.varint(value & 0xFFFF), 0)[0] == value & 0xFFFF


@given(st.binary(max_size=8).map(lambda b: bytes(x | 128 for x in b)))
def test_a_number_without_its_end_is_broken(data: bytes) -> None:
    for read in (varint, after_varint):
        with pytest.raises(BROKEN):
            read(data, 0)


@given(st.text(max_size=40), st.booleans(), st.sampled_from([3, 4]))
def test_text_comes_back(text: str, compressed: bool, encoding: int) -> None:
    integers = Integers(compressed)
    data = writer.Chunk(compressed).text(text, encoding) + b"rest"
    assert string(data, 0, len(data), integers) == (text, len(data) - 4)
    assert after_string(data, 0, len(data), integers) == len(data) - 4


def test_each_string_encoding() -> None:
    def read(data: bytes) -> object:
        value, end = string(data, 0, len(data), COMPRESSED)
        assert end == len(data) == after_string(data, 0, len(data), COMPRESSED)
        return value

    assert read(b"\x00") is None
    assert read(b"\x01") == ""
    assert read(b"\x02" + writer.varint(-5)) == -5, "a key of the string pool"
    assert read(b"\x05\x03h\xe9\xff") == "héÿ"
    assert read(b"\x03\x03a\xff\xfe") == "a\ufffd\ufffd", "not UTF-8"
    assert read(writer.Chunk().text("a\ud83d", 4)) == "a\ufffd", "half a surrogate pair"
    assert read(writer.Chunk().text("😀x", 4)) == "😀x"


@pytest.mark.parametrize(
    "data", [b"", b"\x06", b"\xff\x01a", b"\x03\x7fab", b"\x04\x7fab", b"\x05", b"\x03\xff\xff\xff\xff\xff\xff"]
)
def test_a_string_that_cannot_be_right_is_broken(data: bytes) -> None:
    with pytest.raises(BROKEN):
        string(data, 0, len(data), COMPRESSED)
    with pytest.raises(BROKEN):
        after_string(data, 0, len(data), COMPRESSED)


@given(longs)
def test_fixed_width_numbers(value: int) -> None:
    assert Integers(False).read_long(struct.pack(">q", value), 0) == (value, 8)
