from __future__ import annotations

from typing import Any

import pytest

from emberscope.kernel.ops import ARRAY, INT, LONG, MAX_NESTING, MAX_OPS, STRING


def _nested(depth: int) -> list[int]:
    ops = [LONG, 0, 0]
    for _ in range(depth):
        ops = [ARRAY, -1, len(ops), *ops]
    return ops


@pytest.mark.parametrize(
    "ops",
    [
        [],
        [LONG, -1, 0],
        [ARRAY, 0, 0],
        [ARRAY, -1, 3, LONG, 0, 0],
        [LONG, 5, 0, INT, 3, 0, STRING, -1, 0, STRING, -1, 0],
        _nested(MAX_NESTING),
        [LONG, -1, 0] * MAX_OPS,
        [LONG, MAX_OPS - 1, 0],
    ],
)
def test_good_programs(kernel: Any, ops: list[int]) -> None:
    decoder = kernel.Decoder(b"", True)
    decoder.program(7, ops)
    assert decoder.rows(7) == 0


@pytest.mark.parametrize(
    "ops",
    [
        [LONG],
        [LONG, 0],
        [LONG, 0, 0, 0],
        [10, 0, 0],
        [-1, 0, 0],
        [LONG, -2, 0],
        [LONG, MAX_OPS, 0],
        [LONG, 0, 0, INT, 0, 0],
        [LONG, 0, 0, ARRAY, 1, 3, LONG, 0, 0],
        [LONG, 0, 3],
        [ARRAY, 0, 1, LONG, 1, 0],
        [ARRAY, 0, 6, LONG, 1, 0],
        [ARRAY, 0, -3, LONG, 1, 0],
        [ARRAY, 0, 3, ARRAY, 1, 3, LONG, 2, 0],
        _nested(MAX_NESTING + 1),
        [LONG, -1, 0] * (MAX_OPS + 1),
        [ARRAY, -1, 3 * MAX_OPS, *[LONG, -1, 0] * MAX_OPS],
    ],
)
def test_bad_programs(kernel: Any, ops: list[int]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        kernel.Decoder(b"", True).program(7, ops)


@pytest.mark.parametrize("type_id", [1 << 63, -(1 << 63) - 1])
def test_a_type_is_a_number_of_64_bits(kernel: Any, type_id: int) -> None:
    decoder = kernel.Decoder(b"", True)
    with pytest.raises(ValueError, match=r"\w"):
        decoder.program(type_id, [])


def test_a_type_has_one_program(kernel: Any) -> None:
    decoder = kernel.Decoder(b"", True)
    decoder.program(7, [])
    with pytest.raises(ValueError, match=r"\w"):
        decoder.program(7, [])


def test_columns_that_are_not_there(kernel: Any) -> None:
    decoder = kernel.Decoder(b"", True)
    decoder.program(7, [LONG, 0, 0, STRING, 1, 0, LONG, -1, 0])
    for type_id, column in ((8, 0), (7, 2), (7, -1), (1 << 70, 0)):
        with pytest.raises(KeyError):
            decoder.column(type_id, column)
        with pytest.raises(KeyError):
            decoder.strings(type_id, column, None)
    with pytest.raises(TypeError):
        decoder.column(7, 1)
    with pytest.raises(TypeError):
        decoder.strings(7, 0, None)
    with pytest.raises(KeyError):
        decoder.strings(7, 1, (8, 0))
    with pytest.raises(TypeError):
        decoder.strings(7, 1, (7, 0))
    assert decoder.rows(8) == decoder.broken(8) == 0
    with pytest.raises(ValueError, match=r"\w"):
        decoder.positions(7)
