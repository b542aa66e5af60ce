"""The short ways of the kernel in C, which it takes far from the end of the data, give what the long ones give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.kernel.ops import ARRAY, BYTE, CHAR, INT, LONG, SHORT, STRING

native = pytest.importorskip("emberscope.kernel._native")

_INTEGERS = st.lists(st.tuples(st.sampled_from([LONG, INT, SHORT, CHAR]), st.booleans()), min_size=1, max_size=9)
_VALUES = st.one_of(
    st.integers(0, 127), st.integers(0, 2**14), st.integers(0, 2**35), st.integers(-(2**63), 2**63 - 1), st.just(-1)
)


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while len(out) < 8 and value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _columns(data: bytes, end: int, program: list[int], columns: int) -> Any:
    decoder = native.Decoder(data, True)
    decoder.program(7, program)
    stopped = decoder.events(0, end, None)
    read = [decoder.column(7, column).tolist() for column in range(columns)]
    return stopped, decoder.rows(7), decoder.broken(7), read


@given(_INTEGERS, st.lists(_VALUES, max_size=60), st.binary(min_size=40, max_size=40))
def test_elements_of_integers(element: list[tuple[int, bool]], values: list[int], tail: bytes) -> None:
    count = len(values) // len(element)
    program, column = [ARRAY, 0, 3 * len(element)], 1
    for operation, kept in element:
        program += [operation, column if kept else -1, 0]
        column += kept
    program += [BYTE, column, 0]
    written = [varint(value) for value in values[: count * len(element)]]
    body = b"\x07" + varint(count) + b"".join(written) + b"\x21"
    event = varint(len(body) + (1 if len(body) < 126 else 2)) + body
    exact = _columns(event, len(event), program, column + 1)
    padded = _columns(event + tail, len(event), program, column + 1)
    assert padded == exact
    if exact[1]:
        bits = {LONG: 64, INT: 32, SHORT: 16, CHAR: 16}
        kept_ones = [(i, operation) for i, (operation, kept) in enumerate(element) if kept]
        for number, (place, operation) in enumerate(kept_ones):
            expected = [
                value & 2 ** bits[operation] - 1 for value in values[place : count * len(element) : len(element)]
            ]
            assert [value & 2 ** bits[operation] - 1 for value in exact[3][number + 1]] == expected
        assert exact[3][-1] == [0x21]


@given(st.binary(max_size=60), st.integers(0, 30), st.integers(1, 6))
def test_runs_of_skipped_integers(data: bytes, position: int, run: int) -> None:
    program = [LONG, 0, 0, *[INT, -1, 0] * run, STRING, 1, 0, BYTE, 2, 0]
    event = bytes([min(len(data) + 2, 127), 7]) + data

    def read(padding: bytes) -> Any:
        decoder = native.Decoder(event + padding, True)
        decoder.program(7, program)
        stopped = decoder.events(0, len(event), None)
        return stopped, decoder.broken(7), decoder.column(7, 0).tolist(), decoder.column(7, 2).tolist()

    assert read(b"") == read(bytes(position)) == read(b"\xff" * 40)
