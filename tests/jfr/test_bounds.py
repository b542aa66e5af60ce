"""Small hostile files: what they can make the reader do is bounded. Work is counted, not timed."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.jfr.chunk import MOST_FIELDS, decode
from emberscope.jfr.header import Header, split
from emberscope.jfr.losses import Losses
from emberscope.jfr.recording import read_recording
from emberscope.jfr.source import Memory, opened
from emberscope.kernel.ops import MAX_OPS
from emberscope.sources.kind import kind_of
from tests.jfr import writer


def calls_of(function: object, *arguments: object) -> int:
    """How many calls of Python functions it takes."""
    count = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        function(*arguments)  # type: ignore[operator]
    except InputError:
        pass
    finally:
        sys.setprofile(None)
    return count


def tick(chunk: writer.Chunk, *more: str) -> bytes:
    """The chunk with one event of a type with these fields."""
    chunk.type(90, "test.Tick", "startTime:10", *more, super_type=writer.EVENT)
    chunk.event(90, chunk.long(5))
    chunk.checkpoint()
    return chunk.finish()


def test_structs_without_a_value_in_structs_without_a_value() -> None:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    chunk.type(20, "empty.Leaf")
    for depth in range(7):
        inner = 20 if depth == 0 else 29 + depth
        chunk.type(30 + depth, f"s.S{depth}", *(f"f{i}:{inner}" for i in range(16)))
    data = tick(chunk, "s:36")
    assert calls_of(read_recording, data, "x") < 30 * MAX_OPS
    assert read_recording(data, "x").facts.event_counts == {"test.Tick": 1}


def test_thousands_of_types_of_one_large_struct() -> None:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    chunk.type(11, "byte")
    chunk.type(20, "big.S", *(f"f{i}:11" for i in range(MAX_OPS - 10)))
    for i in range(1000):
        chunk.type(100 + i, f"p.P{i}", "s:20")
    data = tick(chunk)
    (header,) = split(Memory(data))
    assert isinstance(header, Header)
    layouts = decode(header, data, None, None).layouts
    assert sum(layout.visits for layout in layouts.values()) < MOST_FIELDS + MAX_OPS


def test_a_file_of_nothing_but_headers(tmp_path: Path) -> None:
    file = tmp_path / "x.jfr"
    file.write_bytes(b"FLR\0\0\2\0\1" * 10_000)
    with opened(file) as (source, _):
        assert len(list(split(source))) == 1
    with pytest.raises(InputError):
        read_recording(file, "x")
    reads = calls_of(read_recording, file, "x")
    file.write_bytes(b"FLR\0\0\2\0\1" * 20_000)
    assert calls_of(read_recording, file, "x") < 3 * reads, "twice the file is twice the work"


def test_a_window_of_a_file_is_read_once_however_much_is_found_in_it(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"FLR\0" * 1000 + bytes(3 << 20) + b"FLR\0")
    with opened(file) as (source, _):
        read = []
        real = source.read
        source.read = lambda offset, size: read.append(size) or real(offset, size)  # type: ignore[method-assign,func-returns-value]
        position, found = -1, 0
        while (position := source.find(b"FLR\0", position + 1)) >= 0:
            found += 1
        assert found == 1001
        assert len(read) < 8


def test_a_bomb_is_told_by_its_first_bytes_within_bounds(tmp_path: Path) -> None:
    block = struct.pack("<I", 1 << 1 | 128 << 10 << 3)[:3] + b"A"  # one byte, 128 KiB of times
    file = tmp_path / "x.zst"
    file.write_bytes(b"\x28\xb5\x2f\xfd\x00\x58" + block * 16_000)
    import tracemalloc

    tracemalloc.start()
    with pytest.raises(InputError):
        kind_of(str(file))
    assert tracemalloc.get_traced_memory()[1] < 160 << 20
    tracemalloc.stop()


def test_notes_do_not_grow_with_the_number_of_questions() -> None:
    losses = Losses("x")
    losses.add_samples(unresolved=1, truncated=2)
    losses.by_recorder(3)
    assert losses.coverage() == losses.coverage()
    assert len(losses.coverage().notes) == 3
