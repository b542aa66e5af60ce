from __future__ import annotations

from typing import Any

import pytest

from emberscope.kernel.ops import ARRAY, BOOLEAN, INT, LONG, STRING
from tests.kernel.records import (
    CLASS,
    METHOD,
    POOLS,
    STRINGS,
    SYMBOL,
    TRACE,
    Writer,
    checkpoint,
    decoded,
    longs,
    method,
    numbers,
    stacks,
    symbol,
    trace,
)


def _pools(writer: Writer, *traces: bytes) -> None:
    """Methods 1 a.A.run, 2 a.A.call, 3 native, 4 without name, 5 an overload of 1, 6 without the name's text."""
    methods = [(1, 10, 100), (2, 10, 101), (3, 0, 102), (4, 10, 999), (5, 10, 100), (6, 10, 104), (-7, 11, 103)]
    checkpoint(
        writer,
        (TRACE, list(traces)),
        (METHOD, [method(writer, *row) for row in methods]),
        (CLASS, [writer.long(10) + writer.long(105), writer.long(11) + writer.long(999)]),
        (SYMBOL, [symbol(writer, key, text) for key, text in _SYMBOLS.items()]),
    )
    checkpoint(writer, (SYMBOL, [writer.long(103) + b"\2" + writer.long(1)]))
    checkpoint(writer, (STRINGS, [writer.long(1) + writer.text("pooled", 5)]))


_SYMBOLS = {100: "run", 101: "call", 102: "epoll_wait", 104: None, 105: "a/A"}


def test_a_prefix_tree(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(
        writer,
        trace(writer, 50, [(1, 3, 0), (2, 4, 0)]),
        trace(writer, 51, [(3, 0, 8), (1, 3, 0), (2, 4, 0)]),
        trace(writer, 52, [(2, 4, 0)]),
    )
    built = stacks(kernel, decoded(kernel, writer, POOLS), {8: 2})
    assert built.size() == 1
    nodes, flags = built.nodes(longs(51, 50, 51, 52))
    assert (nodes.format, flags.format) == ("i", "B")
    assert (nodes.tolist(), flags.tolist()) == ([3, 2, 3, 1], [0, 0, 0, 0])
    assert built.size() == 4
    assert built.nodes(longs(50))[0].tolist() == [2]
    tree = kernel.Tree()
    assert tree.unknown(built) == [
        (0, "a/A", "call", 0, 4),
        (1, "a/A", "run", 0, 3),
        (2, None, "epoll_wait", 2, 0),
    ]


def test_no_stack_and_no_trace(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, trace(writer, 50, []), trace(writer, 51, [], True), trace(writer, 0, [(1, 1, 0)]))
    built = stacks(kernel, decoded(kernel, writer, POOLS))
    nodes, flags = built.nodes(longs(0, 50, 51, 77, -1))
    assert (nodes.tolist(), flags.tolist()) == ([0] * 5, [4, 4, 5, 2, 2])
    assert built.size() == 1
    assert built.nodes(longs())[0].tolist() == []


def test_truncated(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, trace(writer, 50, [(1, 3, 0)], True), trace(writer, 51, [(1, 3, 0)]))
    built = stacks(kernel, decoded(kernel, writer, POOLS))
    nodes, flags = built.nodes(longs(50, 51))
    assert (nodes.tolist(), flags.tolist()) == ([2, 3], [1, 0])
    assert kernel.Tree().unknown(built) == [(0, None, None, -1, 0), (1, "a/A", "run", 0, 3)]
    assert built.leaves(numbers(1, 2, 2, 3, 0)) == [("a/A", "run", 3)]


def test_unresolved(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    frames = [(4, 1, 0), (6, 1, 0), (88, 2, 5), (89, 2, 0)]
    _pools(
        writer,
        *(trace(writer, 50 + i, [frame, (1, 9, 0)]) for i, frame in enumerate(frames)),
        trace(writer, 60, [(1, 9, 0)]),
        trace(writer, 61, [(1, 9, 0), (88, 2, 5)], True),
        trace(writer, 62, [(-7, 1, 0)]),
    )
    built = stacks(kernel, decoded(kernel, writer, POOLS), {5: 7})
    nodes, flags = built.nodes(longs(50, 51, 52, 53, 60, 61, 62))
    assert flags.tolist() == [2, 2, 2, 2, 0, 3, 0]
    assert nodes.tolist() == [2, 3, 4, 5, 1, 8, 9]
    assert kernel.Tree().unknown(built) == [
        (0, "a/A", "run", 0, 9),
        (1, "a/A", None, 0, 1),
        (3, None, None, 7, 2),
        (4, None, None, 0, 2),
        (5, None, None, -1, 0),
        (6, None, "pooled", 0, 1),
    ]
    assert built.leaves(nodes) == [("", "", 2), ("a/A", "", 2), ("a/A", "run", 2), ("", "pooled", 1)]


def test_equal_frames_of_different_methods(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, trace(writer, 50, [(1, 3, 0)]), trace(writer, 51, [(5, 3, 0)]), trace(writer, 52, [(1, 4, 0)]))
    built = stacks(kernel, decoded(kernel, writer, POOLS))
    assert built.nodes(longs(50, 51, 52))[0].tolist() == [1, 2, 3]
    tree = kernel.Tree()
    assert tree.unknown(built) == [(0, "a/A", "run", 0, 3), (2, "a/A", "run", 0, 4)]
    assert built.leaves(numbers(1, 2, 3)) == [("a/A", "run", 3)]


@pytest.mark.parametrize("kinds", [{}, {1: 0, 2: 0}, {1: 3, 2: 3}, {1: 3, 2: 255}])
@pytest.mark.parametrize("lines", [True, False])
def test_what_makes_frames_different(kernel: Any, compressed: bool, kinds: dict[int, int], lines: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, *(trace(writer, 50 + i, [(1, i // 2, 1 + i % 2)]) for i in range(4)))
    built = stacks(kernel, decoded(kernel, writer, POOLS), kinds, lines)
    nodes = built.nodes(longs(50, 51, 52, 53))[0]
    expected = list(dict.fromkeys((kinds.get(1 + i % 2, 0), i // 2 if lines else 0) for i in range(4)))
    assert [frame[3:] for frame in kernel.Tree().unknown(built)] == expected
    assert len(set(nodes)) == len(expected) == built.size() - 1


def test_columns_that_were_not_decoded(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, trace(writer, 50, [(1, 3, 9)], True))
    decoder = decoded(kernel, writer, POOLS)
    built = kernel.Stacks(decoder, (TRACE, -1, 2, 3, -1, -1), (METHOD, 1, 2), (CLASS, 1), (SYMBOL, 1), None, {9: 1})
    assert [view.tolist() for view in built.nodes(longs(50))] == [[1], [0]]
    assert kernel.Tree().unknown(built) == [(0, "a/A", "run", 0, 0)]


def test_the_last_of_several_records_with_one_key(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, trace(writer, 50, [(1, 3, 0)]), trace(writer, 50, [(2, 3, 0)]))
    checkpoint(writer, (SYMBOL, [symbol(writer, 101, "renamed")]))
    built = stacks(kernel, decoded(kernel, writer, POOLS))
    built.nodes(longs(50))
    assert kernel.Tree().unknown(built) == [(0, "a/A", "renamed", 0, 3)]


def test_wide_keys(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    _pools(writer, trace(writer, 2**63 + 5, [(-7, 1, 0)] * 40))
    built = stacks(kernel, decoded(kernel, writer, POOLS))
    nodes, flags = built.nodes(longs(-(2**63) + 5))
    assert (nodes.tolist(), flags.tolist()) == ([40], [0])


def test_types_without_program_are_empty_pools(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(TRACE, trace(writer, 50, [(1, 3, 0)]))
    built = stacks(kernel, decoded(kernel, writer, {TRACE: POOLS[TRACE], STRINGS: POOLS[STRINGS]}))
    assert built.nodes(longs(50))[1].tolist() == [2]
    assert kernel.Tree().unknown(built) == [(0, None, None, 0, 3)]
    nothing = kernel.Stacks(kernel.Decoder(b"", compressed), (1, 2, 3, 4, 5, 6), (2, 1, 2), (3, 1), (4, 1), None, {})
    assert [view.tolist() for view in nothing.nodes(longs(0, 1))] == [[0, 0], [4, 2]]


def test_frames_with_texts(kernel: Any, compressed: bool) -> None:
    """Frames that are no plain numbers are read just as well."""
    frame = [LONG, 3, 0, STRING, -1, 0, LONG, 4, 0, INT, 5, 0]
    programs = POOLS | {TRACE: [LONG, 0, 0, BOOLEAN, 1, 0, ARRAY, 2, len(frame), *frame]}
    writer = Writer(compressed)

    def frames(*rows: tuple[int, int, int]) -> bytes:
        body = b"".join(writer.long(m) + writer.text("?") + writer.long(t) + writer.int(n) for m, t, n in rows)
        return writer.int(len(rows)) + body

    _pools(writer, writer.long(50) + b"\0" + frames((1, 8, 3), (2, 0, 4)), writer.long(51) + b"\1" + frames((2, 0, 4)))
    built = stacks(kernel, decoded(kernel, writer, programs), {8: 1})
    assert built.nodes(longs(50, 51))[0].tolist() == [2, 4]
    assert kernel.Tree().unknown(built)[:2] == [(0, "a/A", "call", 0, 4), (1, "a/A", "run", 1, 3)]


@pytest.mark.parametrize(
    ("place", "change", "error"),
    [
        ("trace", (TRACE, 9, 2, 3, 4, 5), KeyError),
        ("trace", (TRACE, 1, 2, 9, 4, 5), KeyError),
        ("trace", (TRACE, 0, 2, 3, 4, 5), TypeError),
        ("trace", (TRACE, 1, 0, 3, 4, 5), TypeError),
        ("trace", (TRACE, 1, 2, 5, 4, 5), TypeError),
        ("trace", (TRACE, 1, 2, 3, 5, 5), TypeError),
        ("trace", (TRACE, 1, 2, 3, 4, 3), TypeError),
        ("trace", (TRACE, 1, 2, 0, 4, 5), ValueError),
        ("method", (METHOD, 1, 9), KeyError),
        ("method", (TRACE, 3, 0), TypeError),
        ("klass", (TRACE, 4), TypeError),
        ("klass", (CLASS, 9), KeyError),
        ("klass", (SYMBOL, 1), TypeError),
        ("symbol", (SYMBOL, 9), KeyError),
        ("symbol", (SYMBOL, 0), TypeError),
        ("pool", (STRINGS, 9), KeyError),
        ("pool", (STRINGS, 0), TypeError),
        ("kinds", {1: 256}, ValueError),
        ("kinds", {1: -1}, ValueError),
    ],
)
def test_columns_that_cannot_be_right(kernel: Any, place: str, change: Any, error: type[Exception]) -> None:
    writer = Writer()
    _pools(writer, trace(writer, 50, [(1, 3, 0), (2, 3, 0)]))
    arguments: dict[str, Any] = {
        "trace": (TRACE, 1, 2, 3, 4, 5),
        "method": (METHOD, 1, 2),
        "klass": (CLASS, 1),
        "symbol": (SYMBOL, 1),
        "pool": (STRINGS, 1),
        "kinds": {},
    }
    arguments[place] = change
    with pytest.raises(error):
        kernel.Stacks(decoded(kernel, writer, POOLS), *arguments.values())


def test_leaves_of_nodes_that_are_not_there(kernel: Any) -> None:
    built = kernel.Stacks(kernel.Decoder(b"", True), (1, 2, 3, 4, 5, 6), (2, 1, 2), (3, 1), (4, 1), None, {})
    assert built.leaves(numbers(0, 0)) == []
    for node in (1, -1):
        with pytest.raises(IndexError):
            built.leaves(numbers(node))


def test_leaves_are_ordered(kernel: Any) -> None:
    writer = Writer()
    keys = [(1, "b"), (2, "a"), (3, "é"), (4, "z"), (5, "😀"), (6, "\uffff")]
    checkpoint(
        writer,
        (TRACE, [trace(writer, key, [(key, 0, 0)]) for key, _ in keys]),
        (METHOD, [method(writer, key, 0, key) for key, _ in keys]),
        (SYMBOL, [symbol(writer, *pair) for pair in keys]),
    )
    built = stacks(kernel, decoded(kernel, writer, POOLS))
    nodes = built.nodes(longs(1, 2, 3, 4, 4, 5, 6))[0]
    assert [name for _, name, _ in built.leaves(nodes)] == ["z", "a", "b", "é", "\uffff", "😀"]
