from __future__ import annotations

from typing import Any

import pytest

from tests.kernel.records import longs, numbers

_MOST = 2**63 - 1
_LEAST = -(2**63)


def test_where(kernel: Any) -> None:
    found = kernel.where(longs(5, -1, 7, 5, 2**62), frozenset({5, -1, 2**62, 2**70}))
    assert (found.format, found.tolist()) == ("i", [0, 1, 3, 4])
    assert kernel.where(longs(5), frozenset()).tolist() == []
    assert kernel.where(b"", frozenset({5})).tolist() == []


def test_tally(kernel: Any) -> None:
    nodes = numbers(1, 0, 1, 3)
    counted = kernel.tally(nodes, None, None, 4)
    assert (counted.format, counted.tolist()) == ("q", [1, 2, 0, 1])
    assert kernel.tally(nodes, longs(5, -6, 7, 8), None, 5).tolist() == [-6, 12, 0, 8, 0]
    assert kernel.tally(nodes, longs(5, -6, 7, 8), numbers(3, 0, 3), 4).tolist() == [0, 5, 0, 16]
    assert kernel.tally(nodes, None, numbers(3, 0, 3), 4).tolist() == [0, 1, 0, 2]
    assert kernel.tally(nodes, None, numbers(1), 1).tolist() == [1]
    assert kernel.tally(numbers(), None, None, 0).tolist() == []
    assert kernel.tally(numbers(), longs(), numbers(), 2).tolist() == [0, 0]


def test_sums_are_held_at_64_bits(kernel: Any) -> None:
    nodes = numbers(0, 0, 0, 1, 1)
    weights = longs(_MOST, 5, -7, _LEAST, -1)
    assert kernel.tally(nodes, weights, None, 2).tolist() == [_MOST - 7, _LEAST]
    assert kernel.tally(nodes, weights, numbers(1, 0), 2).tolist() == [_MOST, 0]
    sums = longs(-6, 9)
    kernel.add(sums, nodes, weights)
    assert sums.tolist() == [_MOST - 8, _LEAST + 8]


@pytest.mark.parametrize(
    ("nodes", "weights", "rows", "size", "error"),
    [
        ([2], None, None, 2, IndexError),
        ([-1], None, None, 2, IndexError),
        ([2], [1], None, 2, IndexError),
        ([-1], [1], None, 2, IndexError),
        ([0], None, [1], 2, IndexError),
        ([0], [1], [-1], 2, IndexError),
        ([0], [1, 2], None, 2, ValueError),
        ([0, 1], [1], [0], 2, ValueError),
        ([], None, None, -1, ValueError),
    ],
)
def test_tallies_that_cannot_be(
    kernel: Any, nodes: list[int], weights: list[int] | None, rows: list[int] | None, size: int, error: type[Exception]
) -> None:
    with pytest.raises(error):
        kernel.tally(
            numbers(*nodes),
            None if weights is None else longs(*weights),
            None if rows is None else numbers(*rows),
            size,
        )


def test_add(kernel: Any) -> None:
    sums = longs(1, 2, 3)
    kernel.add(sums, numbers(2, 0, 2), longs(10, -20, 30))
    assert sums.tolist() == [-19, 2, 43]
    kernel.add(sums, numbers(), longs())
    for nodes in ((0, 3), (0, -1)):
        with pytest.raises(IndexError):
            kernel.add(sums, numbers(*nodes), longs(1, 1))
    with pytest.raises(ValueError, match=r"\w"):
        kernel.add(sums, numbers(0), longs(1, 1))
    assert sums.tolist() == [-19, 2, 43]
    with pytest.raises(BufferError):
        kernel.add(sums.toreadonly(), numbers(0), longs(1))


def _folded(kernel: Any, rows: list[tuple[int, int, int]], names: list[str], root: int = 0) -> str:
    parents, frames, weights = zip((-1, -1, root), *rows, strict=True)
    text: bytes = kernel.folded(numbers(*parents), numbers(*frames), longs(*weights), names)
    return text.decode()


def test_folded(kernel: Any) -> None:
    rows = [(0, 0, 0), (1, 1, 2), (1, 2, 5), (0, 3, 7), (3, 0, 1), (4, 0, 0)]
    assert _folded(kernel, rows, ["a", "b", "c", "d e"]) == "a;c 5\na;c;a 1\na;b 2\nd e 7\n"
    assert _folded(kernel, rows[:1], ["a"], root=3) == "[no stack] 3\n"
    assert _folded(kernel, [], []) == ""
    assert kernel.folded(b"", b"", b"", []) == b""


def test_siblings_of_equal_weight(kernel: Any) -> None:
    rows = [(0, 2, 1), (0, 1, 1), (0, 0, 1), (0, 3, 0), (4, 0, 1), (0, 1, 1), (6, 1, 0)]
    assert _folded(kernel, rows, ["é", "b", "a", "b"]) == "a 1\nb 1\nb;é 1\nb 1\né 1\n"


def test_names_of_any_kind(kernel: Any) -> None:
    names = ["\ud800x", "😀", "A;b\nc", "?x"]
    rows = [(0, 0, 1), (0, 1, 1), (0, 2, 1), (0, 3, 1)]
    assert _folded(kernel, rows, names) == "?x 1\n?x 1\nA;b\nc 1\n😀 1\n"


def test_weights_through_a_node_are_held_at_64_bits(kernel: Any) -> None:
    rows = [(0, 0, _MOST), (0, 1, 0), (2, 0, _MOST), (2, 1, _MOST)]
    assert _folded(kernel, rows, ["b", "a"]) == f"a;a {_MOST}\na;b {_MOST}\nb {_MOST}\n"


def test_deep_stacks(kernel: Any) -> None:
    depth = 20000
    rows = [(node, 0, 0) for node in range(depth - 1)] + [(depth - 1, 1, 1)]
    assert _folded(kernel, rows, ["f", "g"]) == "f;" * (depth - 1) + "g 1\n"


@pytest.mark.parametrize(
    ("parents", "frames", "weights", "error"),
    [
        ([-1, 0], [-1, 0], [0], ValueError),
        ([-1], [-1, 0], [0, 0], ValueError),
        ([-1, 0], [-1, 0], [0, -1], ValueError),
        ([-1], [-1], [-1], ValueError),
        ([-1, 1], [-1, 0], [0, 1], ValueError),
        ([-1, -1], [-1, 0], [0, 1], ValueError),
        ([-1, 0], [-1, 1], [0, 0], IndexError),
        ([-1, 0], [-1, -1], [0, 1], IndexError),
    ],
)
def test_trees_that_cannot_be(
    kernel: Any, parents: list[int], frames: list[int], weights: list[int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        kernel.folded(numbers(*parents), numbers(*frames), longs(*weights), ["a"])
