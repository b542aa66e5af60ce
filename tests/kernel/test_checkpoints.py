from __future__ import annotations

from typing import Any

import pytest

from emberscope.kernel.ops import ARRAY, INT, LONG, STRING
from tests.kernel.records import Writer, checkpoint, decoded, longs

_OPS = {30: [LONG, 0, 0, INT, 1, 0], 31: [LONG, 0, 0], 32: []}


def _record(writer: Writer, key: int, value: int) -> bytes:
    return writer.long(key) + writer.int(value)


def _faults(kernel: Any, writer: Writer, programs: dict[int, list[int]] | None = None) -> tuple[Any, list[str]]:
    decoder = kernel.Decoder(bytes(writer.body), writer.compressed)
    for type_id, ops in (programs or _OPS).items():
        decoder.program(type_id, ops)
    decoder.events(0, len(writer.body), None)
    positions = decoder.positions(1)
    faults = decoder.checkpoints(positions)
    assert all(position in positions for position, _ in faults)
    return decoder, [reason for _, reason in faults]


def test_pools(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    checkpoint(writer, (30, [_record(writer, 5, -1), _record(writer, 2**63, 2)]), (31, []), (32, []))
    checkpoint(writer)
    checkpoint(writer, (31, [writer.long(1)]), (30, [_record(writer, 6, 3)]))
    decoder = decoded(kernel, writer, _OPS)
    assert decoder.column(30, 0).tolist() == [5, -(2**63), 6]
    assert decoder.column(30, 1).tolist() == [-1, 2, 3]
    assert [decoder.rows(type_id) for type_id in _OPS] == [3, 1, 0]


def test_constants_without_content_take_no_bytes(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    payload = writer.long(0) * 3 + b"\0" + writer.int(1) + writer.long(32)
    writer.event(1, payload + writer.int(3) + b"abc")
    writer.event(1, payload + writer.int(4) + b"abc")
    decoder, faults = _faults(kernel, writer)
    assert (decoder.rows(32), faults) == (3, ["impossible number of constants of type 32"])


def test_lookup(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    checkpoint(writer, (30, [_record(writer, 5, 1), _record(writer, 6, 2)]))
    checkpoint(writer, (30, [_record(writer, 5, 3)]))
    programs = _OPS | {33: [INT, 0, 0], 34: [ARRAY, 1, 3, LONG, 0, 0]}
    decoder = decoded(kernel, writer, programs)
    found = decoder.lookup(30, longs(5, 6, 7, -1, 5))
    assert (found.format, found.tolist()) == ("i", [2, 1, -1, -1, 2])
    for no_pool in (32, 33, 34, 77, 2**70):
        assert decoder.lookup(no_pool, longs(5, 0)).tolist() == [-1, -1]
    assert decoder.lookup(30, longs()).tolist() == []


def test_a_lookup_sees_what_came_later(kernel: Any) -> None:
    writer = Writer()
    first = checkpoint(writer, (30, [_record(writer, 5, 1)]))
    second = checkpoint(writer, (30, [_record(writer, 5, 2)]))
    decoder = kernel.Decoder(bytes(writer.body), True)
    decoder.program(30, _OPS[30])
    decoder.checkpoints([first])
    assert decoder.lookup(30, longs(5)).tolist() == [0]
    decoder.checkpoints([second])
    assert decoder.lookup(30, longs(5)).tolist() == [1]


def test_what_ints_may_be(kernel: Any) -> None:
    writer = Writer()
    checkpoint(writer, (30, [_record(writer, 5, 1)]))
    decoder = decoded(kernel, writer, _OPS)
    raw = bytes(longs(5, 6))
    for keys in (raw, bytearray(raw), memoryview(raw), memoryview(raw).cast("Q"), memoryview(raw).cast("l")):
        assert decoder.lookup(30, keys).tolist() == [0, -1]
    assert decoder.lookup(30, b"").tolist() == []
    with pytest.raises(ValueError, match=r"\w"):
        decoder.lookup(30, raw[1:])
    with pytest.raises(TypeError):
        decoder.lookup(30, memoryview(raw).cast("i"))


@pytest.mark.parametrize("position", [-1, 1, 10**6])
def test_where_no_checkpoint_is(kernel: Any, compressed: bool, position: int) -> None:
    writer = Writer(compressed)
    writer.event(30, writer.long(1))
    decoder = kernel.Decoder(bytes(writer.body), compressed)
    assert decoder.checkpoints([position, 0]) == [(position, "no checkpoint"), (0, "no checkpoint")]


def test_a_head_that_is_cut(kernel: Any, compressed: bool) -> None:
    for length in range(5):
        writer = Writer(compressed)
        writer.event(1, b"\0" * length)
        writer.event(30, bytes(50))
        assert _faults(kernel, writer)[1] == ["the head is cut"]


@pytest.mark.parametrize("count", [-1, 5, 2**31 - 1])
def test_an_impossible_number_of_pools(kernel: Any, compressed: bool, count: int) -> None:
    writer = Writer(compressed)
    checkpoint(writer, count=count)
    writer.event(30, bytes(50))
    assert _faults(kernel, writer)[1] == ["impossible number of pools"]


def test_a_pool_that_is_cut(kernel: Any) -> None:
    writer = Writer()
    checkpoint(writer, (31, [writer.long(1)]), (31, [writer.long(2)]))
    for kept in (16, 17):  # all of the first pool, and no more than a byte of the second
        cut = Writer()
        cut.event(1, bytes(writer.body)[2 : 2 + kept])
        cut.event(30, bytes(50))
        decoder, faults = _faults(kernel, cut)
        assert (decoder.rows(31), faults) == (1, ["the head of a pool is cut"])


@pytest.mark.parametrize("count", [-1, 5, 2**31 - 1])
def test_an_impossible_number_of_constants(kernel: Any, compressed: bool, count: int) -> None:
    writer = Writer(compressed)
    writer.event(1, writer.long(0) * 3 + b"\0" + writer.int(1) + writer.long(31) + writer.int(count) + b"\1")
    writer.event(30, bytes(50))
    assert _faults(kernel, writer)[1] == ["impossible number of constants of type 31"]


def test_a_pool_without_program(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    checkpoint(writer, (31, [writer.long(1)]), (-5, []), (31, [writer.long(2)]))
    checkpoint(writer, (31, [writer.long(3)]))
    decoder, faults = _faults(kernel, writer)
    assert faults == ["constants of type -5, which has no program"]
    assert decoder.column(31, 0).tolist() == [1, 3]


def test_a_broken_constant_leaves_those_before(kernel: Any, compressed: bool) -> None:
    ops = {30: [LONG, 0, 0, ARRAY, 1, 6, INT, 2, 0, STRING, 3, 0, ARRAY, 4, 3, INT, 5, 0, STRING, 6, 0]}
    writer = Writer(compressed)

    def record(key: int, last: bytes) -> bytes:
        texts = writer.int(2) + (writer.int(key) + writer.text("t")) * 2
        return writer.long(key) + texts + writer.int(1) + writer.int(key) + last

    good = writer.text("good")
    checkpoint(writer, (30, [record(1, good), record(2, good), record(3, b"\6"), record(4, good)]))
    checkpoint(writer, (30, [record(5, good), record(6, b"\4" + writer.int(1))]))
    checkpoint(writer, (30, [record(7, good)]))
    decoder, faults = _faults(kernel, writer, ops)
    assert faults == ["a constant of type 30 cannot be read"] * 2
    assert decoder.rows(30) == 4
    assert decoder.column(30, 0).tolist() == [1, 2, 5, 7]
    assert decoder.column(30, 1).tolist() == [2] * 4
    assert decoder.column(30, 2).tolist() == [1, 1, 2, 2, 5, 5, 7, 7]
    assert decoder.strings(30, 3, None) == ["t"] * 8
    assert decoder.column(30, 5).tolist() == [1, 2, 5, 7]
    assert decoder.strings(30, 6, None) == ["good"] * 4


def test_a_constant_does_not_reach_beyond_its_checkpoint(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    payload = writer.long(0) * 3 + b"\0" + writer.int(1) + writer.long(31) + writer.int(1)
    writer.event(1, payload + b"\x80")
    writer.event(31, b"\1" * 20)
    assert _faults(kernel, writer)[1] == ["a constant of type 31 cannot be read"]


def test_columns_do_not_grow_under_a_view(kernel: Any) -> None:
    writer = Writer()
    position = checkpoint(writer, (31, [writer.long(1)]))
    decoder = decoded(kernel, writer, _OPS)
    view = decoder.column(31, 0)
    with pytest.raises(BufferError):
        decoder.checkpoints([position])
    assert view.tolist() == [1]


def test_keys_that_were_chosen_to_meet_in_one_place_do_not(kernel: Any) -> None:
    """With a hash that a file can foresee, this takes minutes: every key would look at all before it."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    keys = [(inverse * number) % (1 << 64) for number in range(150_000)]
    signed = [key - (1 << 64) if key >> 63 else key for key in keys]
    writer = Writer()
    checkpoint(writer, (31, [writer.long(key) for key in keys]))
    decoder = decoded(kernel, writer, {31: [LONG, 0, 0]})
    assert decoder.lookup(31, longs(*signed)).tolist() == list(range(len(keys)))
