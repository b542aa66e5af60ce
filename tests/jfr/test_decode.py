"""Records of types that a chunk describes itself, read by generated code."""

from __future__ import annotations

import struct

import pytest

from emberscope.jfr.chunk import Chunk, split
from emberscope.jfr.constants import PoolReader
from emberscope.jfr.decode import Wanted, event_reader, pool_reader
from emberscope.jfr.encoding import BROKEN, Integers
from emberscope.jfr.metadata import Metadata, metadata_body, parse_metadata
from tests.jfr import writer

EVENT_ID = 50
BOTH = pytest.mark.parametrize("compressed", [True, False], ids=["compressed", "fixed"])


def primitives(compressed: bool) -> writer.Chunk:
    chunk = writer.Chunk(compressed)
    names = ("long", "int", "short", "char", "byte", "boolean", "float", "double", "java.lang.String")
    for type_id, name in enumerate(names, start=10):
        chunk.type(type_id, name)
    return chunk


def opened(data: bytes) -> tuple[Chunk, Metadata]:
    (chunk,) = split(data)
    assert isinstance(chunk, Chunk)
    return chunk, parse_metadata(metadata_body(data, chunk.metadata, chunk.integers), chunk.integers)


@BOTH
def test_every_primitive(compressed: bool) -> None:
    chunk = primitives(compressed)
    fields = ("l:10", "i:11", "s:12", "c:13", "b:14", "z:15", "f:16", "d:17", "t:18", "n:11")
    chunk.type(EVENT_ID, "test.All", *fields, super_type=writer.EVENT)
    values = chunk.long(-(1 << 63)) + chunk.int(-7) + chunk.short(-300) + chunk.char(0xFFFE) + b"\x05\x01"
    values += struct.pack(">fd", 1.5, -2.25) + chunk.text("häß", 4) + chunk.int(123_456_789)
    position = chunk.event(EVENT_ID, values)
    data = chunk.finish()
    header, metadata = opened(data)
    wanted: Wanted = (
        ("n", "int"),
        ("l", "int"),
        ("i", "int"),
        ("s", "int"),
        ("c", "int"),
        ("b", "int"),
        ("z", "flag"),
        ("f", "float"),
        ("d", "float"),
        ("t", "text"),
    )
    read = event_reader(metadata, EVENT_ID, wanted, header.integers)
    assert read(data, position) == (123_456_789, -(1 << 63), -7, -300, 0xFFFE, 5, 1, 1.5, -2.25, "häß")
    skipping = event_reader(metadata, EVENT_ID, (("n", "int"),), header.integers)
    assert skipping(data, position) == (123_456_789,), "all others are passed over"


@BOTH
def test_inline_structures_arrays_and_keys(compressed: bool) -> None:
    chunk = primitives(compressed)
    chunk.type(20, "test.Point", "x:11", "y:11")
    chunk.type(21, "test.Line", "from:20", "to:20", "tags:18[]")
    chunk.type(22, "test.Named", "name:18")
    chunk.type(
        EVENT_ID, "test.Shape", "line:21", "points:20[]", "who:22*", "many:22*[]", "last:10", super_type=writer.EVENT
    )
    line = (
        chunk.int(1) + chunk.int(2) + chunk.int(3) + chunk.int(400) + chunk.int(2) + chunk.text("a") + chunk.text("b")
    )
    points = chunk.int(2) + chunk.int(5) + chunk.int(6) + chunk.int(7) + chunk.int(-8)
    keys = chunk.long(-1) + chunk.int(2) + chunk.long(1 << 62) + chunk.long(3)
    position = chunk.event(EVENT_ID, line + points + keys + chunk.long(99))
    data = chunk.finish()
    header, metadata = opened(data)
    wanted: Wanted = (
        ("line.to.y", "int"),
        ("points[].y", "int"),
        ("who", "key"),
        ("many[]", "key"),
        ("line.tags[]", "text"),
        ("last", "int"),
    )
    read = event_reader(metadata, EVENT_ID, wanted, header.integers)
    assert read(data, position) == (400, [6, -8], -1, [1 << 62, 3], ["a", "b"], 99)
    first = event_reader(metadata, EVENT_ID, (("points[].x", "int"),), header.integers)
    assert first(data, position) == ([5, 7],), "an array as the last wanted field is read to its end"


def test_what_a_type_lacks_or_has_as_another_kind_is_none() -> None:
    chunk = primitives(True)
    chunk.type(EVENT_ID, "test.E", "text:18", "number:10", super_type=writer.EVENT)
    position = chunk.event(EVENT_ID, chunk.text("x") + chunk.long(7))
    data = chunk.finish()
    header, metadata = opened(data)
    wanted: Wanted = (("text", "int"), ("number", "key"), ("absent", "float"), ("number", "int"))
    assert event_reader(metadata, EVENT_ID, wanted[:3], header.integers)(data, position) == (None, None, None)
    assert event_reader(metadata, EVENT_ID, wanted[3:], header.integers)(data, position) == (7,)


@BOTH
def test_an_event_longer_than_its_size_is_broken(compressed: bool) -> None:
    chunk = primitives(compressed)
    chunk.type(EVENT_ID, "test.E", "a:10", "b:10", super_type=writer.EVENT)
    position = chunk.event(EVENT_ID, chunk.long(1))
    data = chunk.finish()
    header, metadata = opened(data)
    with pytest.raises(BROKEN):
        event_reader(metadata, EVENT_ID, (("b", "int"),), header.integers)(data, position)


@BOTH
def test_an_array_longer_than_its_event_is_broken(compressed: bool) -> None:
    chunk = primitives(compressed)
    chunk.type(20, "test.Nothing")
    chunk.type(EVENT_ID, "test.E", "many:10[]", "void:20[]", "end:10", super_type=writer.EVENT)
    lying = chunk.event(EVENT_ID, chunk.int(1 << 30) + chunk.long(1))
    honest = chunk.event(EVENT_ID, chunk.int(0) + chunk.int(0) + chunk.long(5))
    data = chunk.finish()
    header, metadata = opened(data)
    read = event_reader(metadata, EVENT_ID, (("end", "int"),), header.integers)
    assert read(data, honest) == (5,)
    with pytest.raises(BROKEN):
        read(data, lying)


def test_types_that_hold_themselves_or_grow_without_bound_are_broken() -> None:
    chunk = primitives(True)
    chunk.type(20, "test.Self", "inner:20")
    for depth in range(6):
        chunk.type(30 + depth, f"test.Wide{depth}", *(f"f{i}:{31 + depth}" for i in range(20)))
    chunk.type(36, "test.Wide6", "x:10")
    chunk.type(40, "test.Missing", "x:999")
    header, metadata = opened(chunk.finish())
    for type_id in (20, 30, 40):
        with pytest.raises(BROKEN):
            pool_reader(metadata, type_id, (), header.integers)


@BOTH
def test_pools_with_wide_keys_over_several_checkpoints(compressed: bool) -> None:
    chunk = primitives(compressed)
    chunk.type(20, "jdk.types.Symbol", "string:18")
    chunk.type(21, "test.Other", "a:11", "b:18")

    def symbol(key: int, text: str) -> bytes:
        return chunk.long(key) + chunk.text(text)

    other = chunk.long(1) + chunk.int(5) + chunk.text("skipped")
    chunk.checkpoint((21, [other]), (20, [symbol(-3, "minus"), symbol(1, "old")]))
    chunk.checkpoint((20, [symbol((1 << 63) - 1, "wide")]), (21, [other, other]), (20, [symbol(1, "new")]))
    data = chunk.finish()
    header, metadata = opened(data)
    pools = PoolReader(metadata, header.integers, lines=False).read(data, chunk.checkpoints)
    assert pools.by_name["jdk.types.Symbol"] == {-3: "minus", (1 << 63) - 1: "wide", 1: "new"}
    assert not pools.faults


def test_a_pool_of_an_unknown_type_spoils_the_rest_of_its_checkpoint_only() -> None:
    chunk = primitives(True)
    chunk.type(20, "jdk.types.Symbol", "string:18")
    record = chunk.long(1) + chunk.text("before")
    chunk.checkpoint((20, [record]), (77, [b"\x00"]), (20, [chunk.long(2) + chunk.text("after")]))
    chunk.checkpoint((20, [chunk.long(3) + chunk.text("next")]))
    data = chunk.finish()
    header, metadata = opened(data)
    pools = PoolReader(metadata, header.integers, lines=False).read(data, chunk.checkpoints)
    assert pools.by_name["jdk.types.Symbol"] == {1: "before", 3: "next"}
    assert len(pools.faults) == 1
    assert "77" in pools.faults[0]


def test_no_text_of_a_file_gets_into_the_generated_code() -> None:
    chunk = primitives(True)
    hostile = "x\nimport os; os.abort()\n#'\"{}"
    chunk.type(EVENT_ID, hostile, f"{hostile}:10", "n:10", super_type=writer.EVENT)
    position = chunk.event(EVENT_ID, chunk.long(1) + chunk.long(2))
    data = chunk.finish()
    _, metadata = opened(data)
    wanted: Wanted = ((hostile, "int"), ("n", "int"))
    assert event_reader(metadata, EVENT_ID, wanted, Integers(True))(data, position) == (1, 2)
