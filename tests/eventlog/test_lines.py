"""Text in pieces to lines, whatever the pieces are."""

import io

from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.lines import blocks, stream_of

PIECES = st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"a", b"\n", b"ab\n", b"\n\n", b"abcdefgh"])))


@given(pieces=PIECES, block_bytes=st.integers(1, 100))
def test_no_byte_and_no_line_is_lost(pieces: list[bytes], block_bytes: int) -> None:
    text = b"".join(pieces)
    got = list(blocks(stream_of(iter(pieces)), block_bytes))
    assert [line for block in got for line in block.lines()] == io.BytesIO(text).readlines()
    assert not any(block.long_line_bytes for block in got)
    assert [block.open_end for block in got[:-1]] == [False] * len(got[:-1])
    if got:
        assert got[-1].open_end == (not text.endswith(b"\n"))


@given(pieces=PIECES, block_bytes=st.integers(1, 8), line_bytes=st.integers(1, 12))
def test_a_line_that_is_too_long_costs_no_other(pieces: list[bytes], block_bytes: int, line_bytes: int) -> None:
    lines = io.BytesIO(b"".join(pieces)).readlines()
    got = list(blocks(stream_of(iter(pieces)), block_bytes, line_bytes))
    seen: list[bytes | int] = []
    for block in got:
        seen += [block.long_line_bytes] if block.long_line_bytes else block.lines()
        assert len(block.text) <= line_bytes + 2 * block_bytes
    assert len(seen) == len(lines)
    for line, one in zip(lines, seen, strict=True):
        # A line that came in one piece is there already.
        is_long = len(line) > max(line_bytes, block_bytes)
        assert one == (len(line) if is_long else line) or line_bytes < len(line) <= block_bytes
