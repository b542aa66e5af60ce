"""Laws of the layout, on any tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.plan_layout import GAP_PX, ROW_GAP_PX, tidy

Tree = tuple[list[int | None], list[int], list[int]]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Depth first, as plans are: each box hangs on one that comes before it."""
    parents: list[int | None] = [None]
    way = [0]  # from the root to the last box
    for box in range(1, draw(st.integers(1, 40))):
        way = way[: draw(st.integers(1, len(way)))]
        parents.append(way[-1])
        way.append(box)
    sizes = st.lists(st.integers(20, 300), min_size=len(parents), max_size=len(parents))
    return parents, draw(sizes), draw(sizes)


def depths(parents: list[int | None]) -> list[int]:
    result: list[int] = []
    for parent in parents:
        result.append(0 if parent is None else result[parent] + 1)
    return result


def below(parents: list[int | None], root: int) -> list[int]:
    found = {root}
    for box, parent in enumerate(parents):
        if parent in found:
            found.add(box)
    return sorted(found)


@given(trees())
def test_prop_no_two_boxes_overlap_and_all_lie_within_the_whole(tree: Tree) -> None:
    parents, widths, heights = tree
    layout = tidy(parents, widths, heights)
    for a in range(len(parents)):
        assert layout.left[a] >= -1e-6
        assert layout.left[a] + widths[a] <= layout.width + 1e-6
        assert layout.top[a] + heights[a] <= layout.height + 1e-6
        for b in range(a):
            side_by_side = (
                layout.left[b] + widths[b] + GAP_PX <= layout.left[a] + 1e-6
                or layout.left[a] + widths[a] + GAP_PX <= layout.left[b] + 1e-6
            )
            over_another = (
                layout.top[b] + heights[b] + ROW_GAP_PX <= layout.top[a] + 1e-6
                or layout.top[a] + heights[a] + ROW_GAP_PX <= layout.top[b] + 1e-6
            )
            assert side_by_side or over_another
    assert min(layout.left) == pytest.approx(0)
    assert max(left + width for left, width in zip(layout.left, widths, strict=True)) == pytest.approx(layout.width)


@given(trees())
def test_prop_children_stand_below_their_parent_in_their_order_the_first_straight_below(tree: Tree) -> None:
    parents, widths, heights = tree
    layout = tidy(parents, widths, heights)
    centres = [left + width / 2 for left, width in zip(layout.left, widths, strict=True)]
    last: dict[int, int] = {}
    for box, parent in enumerate(parents):
        if parent is None:
            continue
        assert layout.top[box] >= layout.top[parent] + heights[parent] + ROW_GAP_PX - 1e-6
        if parent in last:
            assert layout.left[box] >= layout.left[last[parent]] + widths[last[parent]] + GAP_PX - 1e-6
        else:
            assert centres[box] == pytest.approx(centres[parent])
        last[parent] = box


@given(trees())
def test_prop_no_subtree_could_stand_further_left(tree: Tree) -> None:
    """Each child but the first touches, somewhere in its subtree, what stands left of it."""
    parents, widths, heights = tree
    layout, levels = tidy(parents, widths, heights), depths(parents)
    for parent in range(len(parents)):
        children = [box for box, above in enumerate(parents) if above == parent]
        for child in children[1:]:
            before = [box for other in children[: children.index(child)] for box in below(parents, other)]
            room = min(
                layout.left[box] - layout.left[left] - widths[left]
                for box in below(parents, child)
                for left in before
                if levels[box] == levels[left]
            )
            assert room == pytest.approx(GAP_PX)


def test_a_chain_of_thousands_and_a_fan_of_thousands() -> None:
    count = 5_000
    chain = tidy([None, *range(count - 1)], [100] * count, [50] * count)
    assert (chain.width, chain.height) == (100, count * 50 + (count - 1) * ROW_GAP_PX)
    fan = tidy([None, *[0] * (count - 1)], [100] * count, [50] * count)
    assert fan.width == pytest.approx((count - 1) * 100 + (count - 2) * GAP_PX)
    # Each first child has two children again: the other one of each row stands beside it.
    parents = [None, *[max(0, box - 2 - (box % 2 == 0)) for box in range(1, count)]]
    ladder = tidy(parents, [100] * count, [50] * count)
    assert ladder.width == pytest.approx(200 + GAP_PX)


def test_nothing_has_no_size() -> None:
    assert tidy([], [], []).width == 0
