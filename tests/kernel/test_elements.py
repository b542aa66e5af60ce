from __future__ import annotations

from typing import Any

import pytest

from tests.jfr.writer import Chunk


def _body(writer: Chunk, strings: list[bytes], *tree: int) -> bytes:
    return writer.int(len(strings)) + b"".join(strings) + b"".join(map(writer.int, tree))


def test_a_tree(kernel: Any, compressed: bool) -> None:
    writer = Chunk(compressed)
    strings = [writer.text(text, encoding) for text, encoding in [("root", 4), ("class", 3), ("id", 5), ("ä€😀", 4)]]
    body = _body(writer, strings, 0, 0, 2, 1, 2, 2, 3, 3, 2, 1, 3, 0, 0, 1, 0, 0)
    expected = [(0, "root", ()), (1, "class", ("id", "ä€😀", "ä€😀", "id")), (2, "ä€😀", ()), (1, "class", ())]
    assert kernel.elements(body, compressed) == expected
    assert kernel.elements(memoryview(body + b"rest"), compressed) == expected


def test_strings_without_text(kernel: Any, compressed: bool) -> None:
    writer = Chunk(compressed)
    body = _body(writer, [b"\0", b"\2" + writer.long(9), b"\1", b"\3" + writer.int(1) + b"\xff"], 0, 2, 1, 2, 3, 0, 0)
    assert kernel.elements(body, compressed) == [(0, "", ("", "", "�", ""))]


def _nested(writer: Chunk, depth: int) -> bytes:
    return _body(writer, [b"\1"], *([0, 0, 1] * depth), 0, 0, 0)


def test_depth(kernel: Any, compressed: bool) -> None:
    writer = Chunk(compressed)
    assert kernel.elements(_nested(writer, 16), compressed)[-1][0] == 16
    with pytest.raises(ValueError, match=r"\w"):
        kernel.elements(_nested(writer, 17), compressed)


@pytest.mark.parametrize("tree", [[1, 0, 0], [-1, 0, 0], [0, 1, 0, 1, 0], [0, 1, 1, 0, 0], [0, -1, 0], [0, 0, -1]])
def test_what_cannot_be_right(kernel: Any, compressed: bool, tree: list[int]) -> None:
    writer = Chunk(compressed)
    body = _body(writer, [b"\1"], *tree)
    with pytest.raises(ValueError, match=r"\w"):
        kernel.elements(body, compressed)


@pytest.mark.parametrize("tree", [[0, 0, 9], [0, 2**31 - 1], [0, 0, 1]])
def test_counts_beyond_the_bytes(kernel: Any, compressed: bool, tree: list[int]) -> None:
    writer = Chunk(compressed)
    with pytest.raises(ValueError, match=r"\w"):
        kernel.elements(_body(writer, [b"\1"], *tree), compressed)


@pytest.mark.parametrize("strings", [[b"\6"], [b"\3\x7f"], []])
def test_bad_strings(kernel: Any, compressed: bool, strings: list[bytes]) -> None:
    writer = Chunk(compressed)
    with pytest.raises(ValueError, match=r"\w"):
        kernel.elements(_body(writer, strings, 0, 0, 0), compressed)


@pytest.mark.parametrize("count", [-1, 3, 2**31 - 1])
def test_impossible_numbers_of_strings(kernel: Any, compressed: bool, count: int) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        kernel.elements(Chunk(compressed).int(count) + b"\1\1", compressed)


def test_every_cut_is_refused(kernel: Any, compressed: bool) -> None:
    writer = Chunk(compressed)
    body = _body(writer, [writer.text("ab", 4), writer.text("c")], 0, 1, 1, 0, 1, 1, 0, 0)
    for length in range(len(body)):
        with pytest.raises(ValueError, match=r"\w"):
            kernel.elements(body[:length], compressed)
