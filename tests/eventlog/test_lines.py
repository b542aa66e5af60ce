"""Text in pieces to lines, whatever the pieces are."""

import io

from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.lines import blocks, stream_of


@given(pieces=st.lists(st.binary(max_size=40)), block_bytes=st.integers(1, 100))
def test_no_byte_and_no_line_is_lost(pieces: list[bytes], block_bytes: int) -> None:
    text = b"".join(pieces)
    got = list(blocks(stream_of(iter(pieces)), block_bytes))
    lines = [line for block in got for line in block.lines]
    assert lines == io.BytesIO(text).readlines()
    assert [block.first for block in got] == [1 + sum(len(b.lines) for b in got[:i]) for i in range(len(got))]
    assert [block.open_end for block in got[:-1]] == [False] * len(got[:-1])
    if got:
        assert got[-1].open_end == (not text.endswith(b"\n"))
