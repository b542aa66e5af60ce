from __future__ import annotations

from typing import Any

import pytest

from tests.kernel.records import (
    CLASS,
    METHOD,
    POOLS,
    SYMBOL,
    TRACE,
    Writer,
    checkpoint,
    decoded,
    longs,
    method,
    symbol,
    trace,
)
from tests.kernel.records import stacks as built_stacks


def _stacks(kernel: Any, *paths: list[int], shift: int = 0) -> Any:
    """Stacks, root first, of methods a.A.m1, a.A.m2, ...; with `shift`, the chunk has other keys for them."""
    writer = Writer()
    methods = sorted({name for path in paths for name in path})
    checkpoint(
        writer,
        (TRACE, [trace(writer, i, [(m + shift, 0, 0) for m in path[::-1]]) for i, path in enumerate(paths, 1)]),
        (METHOD, [method(writer, m + shift, 5, m + shift) for m in methods]),
        (CLASS, [writer.long(5) + writer.long(999)]),
        (SYMBOL, [symbol(writer, m + shift, f"m{m}") for m in methods] + [symbol(writer, 999, "a/A")]),
    )
    stacks = built_stacks(kernel, decoded(kernel, writer, POOLS))
    stacks.nodes(longs(*range(1, len(paths) + 1)))
    return stacks


def _learn(tree: Any, stacks: Any, first: int = 0) -> None:
    for number, (local, *_) in enumerate(tree.unknown(stacks), first):
        tree.learn(stacks, local, number)


def test_a_new_tree(kernel: Any) -> None:
    tree = kernel.Tree()
    assert tree.size() == 1
    assert (tree.parents().format, tree.parents().tolist()) == ("i", [-1])
    assert (tree.frames().format, tree.frames().tolist()) == ("i", [-1])


def test_chunks_meet_in_one_tree(kernel: Any) -> None:
    tree = kernel.Tree()
    one = _stacks(kernel, [1, 2], [1, 3])
    assert [frame[2] for frame in tree.unknown(one)] == ["m1", "m2", "m3"]
    _learn(tree, one)
    assert tree.unknown(one) == []
    grafted = tree.graft(one)
    assert (grafted.format, grafted.tolist()) == ("i", [0, 1, 2, 3])
    two = _stacks(kernel, [1], [4, 1], [1, 3, 4], shift=200)
    assert tree.unknown(two) == [(1, "a/A", "m4", 0, 0)]
    _learn(tree, two, 3)
    assert tree.graft(two).tolist() == [0, 1, 4, 5, 3, 6]
    assert tree.parents().tolist() == [-1, 0, 1, 1, 0, 4, 3]
    assert tree.frames().tolist() == [-1, 0, 1, 2, 3, 0, 3]
    assert tree.graft(one).tolist() == [0, 1, 2, 3]


def test_frames_that_were_learned_to_be_one(kernel: Any) -> None:
    tree = kernel.Tree()
    stacks = _stacks(kernel, [1, 3], [2, 3])
    for local, _, name, _, _ in tree.unknown(stacks):
        tree.learn(stacks, local, 7 if name == "m3" else 5)
    assert tree.graft(stacks).tolist() == [0, 1, 2, 1, 2]
    tree.learn(stacks, 0, 6)
    assert tree.graft(stacks).tolist() == [0, 3, 4, 1, 2]


def test_unknown_frames_are_not_grafted(kernel: Any) -> None:
    tree = kernel.Tree()
    stacks = _stacks(kernel, [1, 2])
    tree.learn(stacks, 0, 5)
    with pytest.raises(KeyError):
        tree.graft(stacks)
    assert tree.size() == 1


def test_nodes_by_hand(kernel: Any) -> None:
    tree = kernel.Tree()
    assert tree.child(0, 5) == 1
    assert tree.child(1, 5) == 2
    assert tree.child(0, 5) == 1
    assert tree.node([5, 5, 2**31 - 1]) == 3
    assert tree.node([]) == 0
    before = tree.parents()
    tree.child(3, 0)
    assert (before.tolist(), tree.parents().tolist()) == ([-1, 0, 1, 2], [-1, 0, 1, 2, 3])
    assert tree.size() == 5


@pytest.mark.parametrize("frame", [-1, 2**31])
def test_frames_out_of_range(kernel: Any, frame: int) -> None:
    tree = kernel.Tree()
    stacks = _stacks(kernel, [1])
    with pytest.raises(ValueError, match=r"\w"):
        tree.child(0, frame)
    with pytest.raises(ValueError, match=r"\w"):
        tree.node([frame])
    with pytest.raises(ValueError, match=r"\w"):
        tree.learn(stacks, 0, frame)


@pytest.mark.parametrize("number", [-1, 1])
def test_nodes_and_local_frames_out_of_range(kernel: Any, number: int) -> None:
    tree = kernel.Tree()
    with pytest.raises(IndexError):
        tree.child(number, 0)
    with pytest.raises(IndexError):
        tree.learn(_stacks(kernel, [1]), number, 0)
