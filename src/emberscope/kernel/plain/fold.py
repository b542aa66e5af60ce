"""Sums of weights by node, and the folded text of a prefix tree."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

from emberscope.kernel.plain.buffers import Ints, ints

_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1


def where(keys: Ints, accepted: frozenset[int]) -> memoryview:
    given = ints(keys, "q")
    return memoryview(array("i", compress(range(len(given)), map(accepted.__contains__, given))))


def tally(nodes: Ints, weights: Ints | None, rows: Ints | None, size: int) -> memoryview:
    if size < 0:
        raise ValueError("a size is not negative")
    by_row = ints(nodes, "i")
    weight_by_row = ints(weights, "q") if weights is not None else None
    if weight_by_row is not None and len(weight_by_row) != len(by_row):
        raise ValueError("there must be as many weights as nodes")
    selected: Iterable[int] = by_row
    weighed: Iterable[int] | None = weight_by_row
    if rows is not None:
        chosen = ints(rows, "i")
        if chosen and not 0 <= min(chosen) <= max(chosen) < len(by_row):
            raise IndexError("a row that is not there")
        selected = [by_row[row] for row in chosen]
        weighed = [weight_by_row[row] for row in chosen] if weight_by_row is not None else None
    sums = array("q", bytes(8 * size))
    if weighed is None:
        for node, times in Counter(selected).items():
            if not 0 <= node < size:
                raise IndexError(f"there is no node {node}")
            sums[node] = times
    else:
        _add(sums, selected, weighed)
    return memoryview(sums)


def add(into: memoryview, nodes: Ints, weights: Ints) -> None:
    if into.readonly:
        raise BufferError("the sums cannot be written to")
    at, by = ints(nodes, "i"), ints(weights, "q")
    if len(at) != len(by):
        raise ValueError("there must be as many weights as nodes")
    sums = ints(into, "q")
    if at and not 0 <= min(at) <= max(at) < len(sums):
        raise IndexError("a node that is not there")
    _add(sums, at, by)


def _add(sums: array[int] | memoryview, nodes: Iterable[int], weights: Iterable[int]) -> None:
    """Add each weight at its node, held at the bounds of 64 bits. Raises `IndexError` for a node that is not there."""
    size = len(sums)
    for node, weight in zip(nodes, weights, strict=True):
        if not 0 <= node < size:
            raise IndexError(f"there is no node {node}")
        total = sums[node] + weight
        sums[node] = total if _LEAST <= total <= _MOST else _MOST if total > 0 else _LEAST


def folded(parents: Ints, frames: Ints, weights: Ints, names: Sequence[str]) -> bytes:
    parent, frame, own = ints(parents, "i").tolist(), ints(frames, "i").tolist(), ints(weights, "q").tolist()
    size = len(parent)
    if len(frame) != size or len(own) != size:
        raise ValueError("parents, frames and weights must be of one length")
    if not size:
        return b""
    _check(parent, frame, own, len(names))
    through = own[:]
    for node in range(size - 1, 0, -1):
        through[parent[node]] += through[node]
    texts = [name.encode("utf-8", "replace") for name in names]
    children = _children(parent, frame, through, texts)
    lines = [b"[no stack] %d\n" % own[0]] if own[0] else []
    path: list[bytes] = []
    waiting = [(node, 0) for node in children.get(0, ())]
    while waiting:
        node, depth = waiting.pop()
        del path[depth:]
        path.append(texts[frame[node]])
        if own[node]:
            lines.append(b"%b %d\n" % (b";".join(path), own[node]))
        if node in children:
            depth += 1
            waiting += [(child, depth) for child in children[node]]
    return b"".join(lines)


def _check(parent: list[int], frame: list[int], own: list[int], names: int) -> None:
    if min(own) < 0:
        raise ValueError("a weight is never negative")
    if any(not 0 <= above < node for node, above in enumerate(parent[1:], 1)):
        raise ValueError("a node comes after its parent")
    if len(frame) > 1 and not 0 <= min(frame[1:]) <= max(frame[1:]) < names:
        raise IndexError("a frame without a name")


def _children(parent: list[int], frame: list[int], through: list[int], texts: list[bytes]) -> dict[int, list[int]]:
    """Nodes with weight by parent, those that come first in the text last in the list, to be popped."""
    rank = {text: place for place, text in enumerate(sorted(set(texts)))}
    by_frame = [rank[text] for text in texts]
    weighed = [node for node in range(1, len(parent)) if through[node]]
    weighed.reverse()
    # One sort for all nodes, by number downwards where it finds no difference; the heavier come last.
    scale = len(rank) + 1
    weighed.sort(key=lambda node: min(through[node], _MOST) * scale - by_frame[frame[node]])
    children: dict[int, list[int]] = {}
    for node in weighed:
        children.setdefault(parent[node], []).append(node)
    return children
