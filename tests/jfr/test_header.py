"""Where chunks begin and end."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from emberscope.jfr.header import Gap, Header, split
from emberscope.jfr.source import Memory
from tests.jfr import writer


def small_chunk() -> bytes:
    chunk = writer.Chunk()
    chunk.type(1, "long")
    chunk.checkpoint()
    return chunk.finish()


WHOLE = small_chunk()


def kinds(data: bytes) -> list[tuple[str, int, int]]:
    return [
        ("gap", part.offset, part.size) if isinstance(part, Gap) else ("chunk", part.offset, part.available)
        for part in split(Memory(data))
    ]


def test_the_header_of_a_chunk() -> None:
    (chunk,) = split(Memory(WHOLE))
    assert isinstance(chunk, Header)
    assert (chunk.version, chunk.size, chunk.start_ns, chunk.ticks_per_second) == ("2.1", len(WHOLE), 10**18, 10**9)
    assert chunk.finished
    assert not chunk.fault()
    assert chunk.compressed


def test_ticks_become_epoch_time() -> None:
    (chunk,) = split(Memory(writer.Chunk().finish(start_ns=1_000, start_ticks=500, hertz=2_800_000_000)))
    assert isinstance(chunk, Header)
    assert chunk.to_ns(500) == 1_000
    assert chunk.to_ns(500 + 2_800_000_000 * 3600) == 1_000 + 3600 * 10**9
    assert chunk.span_ns(28) == 10


def test_chunks_back_to_back() -> None:
    size = len(WHOLE)
    assert kinds(WHOLE * 3) == [("chunk", 0, size), ("chunk", size, size), ("chunk", 2 * size, size)]


def test_garbage_between_chunks_is_a_gap_or_belongs_to_the_chunk_before_it() -> None:
    size = len(WHOLE)
    assert kinds(b"xyz" + WHOLE) == [("gap", 0, 3), ("chunk", 3, size)]
    assert kinds(WHOLE + b"xyz" + WHOLE) == [("chunk", 0, size + 3), ("chunk", size + 3, size)]
    assert kinds(WHOLE + b"FLR\0") == [("chunk", 0, size), ("gap", size, 4)]


def test_a_guessed_size_ends_at_the_next_header() -> None:
    killed = WHOLE[:8] + struct.pack(">qqq", 1 << 30, 0, 0) + WHOLE[32:]
    assert kinds(killed + WHOLE) == [("chunk", 0, len(killed)), ("chunk", len(killed), len(WHOLE))]
    (chunk,) = split(Memory(killed))
    assert isinstance(chunk, Header)
    assert not chunk.finished
    assert chunk.missing_bytes == 0, "nobody knows what is missing"


def test_a_cut_chunk_knows_what_is_missing() -> None:
    (chunk,) = split(Memory(WHOLE[:-5]))
    assert isinstance(chunk, Header)
    assert chunk.missing_bytes == 5


def test_versions_and_flags_that_would_be_read_wrongly_are_refused() -> None:
    def fault(major: int, minor: int, flags: int) -> str:
        (chunk,) = split(
            Memory(WHOLE[:4] + struct.pack(">HH", major, minor) + WHOLE[8:66] + struct.pack(">H", flags) + WHOLE[68:])
        )
        assert isinstance(chunk, Header)
        return chunk.fault()

    assert fault(0, 9, 1) == "JFR format 0.9 (Oracle JDK 7 or 8) is not supported"
    assert fault(2, 2, 1) == "JFR format 2.2 is not supported"
    assert fault(3, 0, 1) == "JFR format 3.0 is not supported"
    assert fault(2, 1, 5) == "JFR format 2.1 with flags 0x0005 is not supported"
    assert [fault(2, 0, 1), fault(2, 1, 3), fault(2, 1, 0), fault(1, 0, 1)] == [""] * 4


@given(st.lists(st.one_of(st.binary(max_size=90), st.just(WHOLE), st.just(WHOLE[:70]), st.just(b"FLR\0")), max_size=6))
def test_the_parts_cover_the_file(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    position = 0
    for _, offset, size in kinds(data):
        assert offset == position
        assert size > 0
        position += size
    assert position == len(data)
