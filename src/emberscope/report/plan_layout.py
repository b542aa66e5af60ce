"""Where the boxes of a plan stand: each straight above the first that it consumes, the others to the right of that.

So the root is at the left, where reading and scrolling begin, and the way of most rows, the first input of a join, goes
straight down. Subtrees are moved together until their outlines touch, as Reingold and Tilford do it ("Tidier Drawings
of Trees", 1981), with boxes of any width and rows as high as their highest box. An outline is the leftmost or rightmost
edge by depth; joining two costs as much as the shallower one is deep, so that the whole costs time in proportion to the
boxes. Nothing recurses: plans nest by the thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GAP_PX: Final = 24.0
"""Least distance of two boxes side by side."""

ROW_GAP_PX: Final = 34.0
"""Distance between the rows."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Left and upper edge of each box, and the size of the whole, in px."""

    left: tuple[float, ...]
    top: tuple[float, ...]
    width: float
    height: float


@dataclass(slots=True)
class _Outline:
    """Edges of a subtree by depth, the deepest first, each less `shift`."""

    left: list[float]
    right: list[float]
    left_shift: float
    right_shift: float


def tidy(
    parents: Sequence[int | None],
    widths: Sequence[float],
    heights: Sequence[float],
    *,
    gap: float = GAP_PX,
    row_gap: float = ROW_GAP_PX,
) -> Layout:
    """Lays out a tree. `parents` has the place of each box's parent, None for the one root, parents before children;
    children of a box stand in the order in which they come.
    """
    if not parents:
        return Layout((), (), 0, 0)
    children: list[list[int]] = [[] for _ in parents]
    depths = [0] * len(parents)
    for box, parent in enumerate(parents):
        if parent is not None:
            children[parent].append(box)
            depths[box] = depths[parent] + 1
    offsets = _offsets(children, widths, gap)
    centres = [0.0] * len(parents)
    for box, parent in enumerate(parents):
        centres[box] = offsets[box] + (centres[parent] if parent is not None else 0)
    left = [centre - width / 2 for centre, width in zip(centres, widths, strict=True)]
    margin = -min(left)
    left = [edge + margin for edge in left]
    row_tops = _row_tops(depths, heights, row_gap)
    return Layout(
        tuple(left),
        tuple(row_tops[depth] for depth in depths),
        max(edge + width for edge, width in zip(left, widths, strict=True)),
        row_tops[-1],
    )


def _row_tops(depths: Sequence[int], heights: Sequence[float], row_gap: float) -> list[float]:
    """The upper edge of each row, and at last the lower edge of the whole."""
    rows = [0.0] * (max(depths) + 1)
    for depth, height in zip(depths, heights, strict=True):
        rows[depth] = max(rows[depth], height)
    tops = [0.0]
    for height in rows:
        tops.append(tops[-1] + height + row_gap)
    tops[-1] -= row_gap
    return tops


def _offsets(children: Sequence[Sequence[int]], widths: Sequence[float], gap: float) -> list[float]:
    """How far the middle of each box stands right of the middle of its parent."""
    offsets = [0.0] * len(children)
    outlines: list[_Outline | None] = [None] * len(children)
    for box in reversed(range(len(children))):  # children before their parents
        below: _Outline | None = None
        for child in children[box]:
            outline, outlines[child] = outlines[child], None
            assert outline is not None
            if below is None:
                below = outline
                continue
            offsets[child] = _apart(below, outline) + gap
            below = _joined(below, outline, offsets[child])
        outlines[box] = _with_root(below, widths[box] / 2)
    return offsets


def _apart(left: _Outline, right: _Outline) -> float:
    """How far right the second subtree must go so that it touches the first."""
    common = min(len(left.left), len(right.left))
    shift = left.right_shift - right.left_shift
    return max(left.right[-depth] - right.left[-depth] for depth in range(1, common + 1)) + shift


def _joined(left: _Outline, right: _Outline, offset: float) -> _Outline:
    """The outline of both, the second moved by `offset`. Written over the deeper one."""
    common = min(len(left.left), len(right.left))
    if len(left.left) >= len(right.left):
        shift = right.right_shift + offset - left.right_shift
        for depth in range(1, common + 1):
            left.right[-depth] = right.right[-depth] + shift
        return left
    right.left_shift += offset
    right.right_shift += offset
    shift = left.left_shift - right.left_shift
    for depth in range(1, common + 1):
        right.left[-depth] = left.left[-depth] + shift
    return right


def _with_root(below: _Outline | None, half: float) -> _Outline:
    """The outline with the root on top, measured from the middle of the root, which is that of its first child."""
    if below is None:
        return _Outline([-half], [half], 0.0, 0.0)
    below.left.append(-half - below.left_shift)
    below.right.append(half - below.right_shift)
    return below
