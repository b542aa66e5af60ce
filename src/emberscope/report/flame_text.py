"""A call tree for a terminal: callers above their callees, each with its share and a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.profile.fold import NO_STACK
from emberscope.report.finding_lines import wrapped
from emberscope.report.terminal import bar_of
from emberscope.report.visible import tail, visible
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.profile.fold import CallTree

# Columns of the bars, where the terminal is narrow and where it is not, and of the figures with all the spaces between.
_BAR: Final = 12
_NARROW_BAR: Final = 4
_WIDE: Final = 80
_FIGURES: Final = 19
# Deeper levels stand under each other: a tree as deep as the terminal is wide would leave no room for names.
_MOST_INDENT: Final = 40
_NEARLY_ALL: Final = 0.97


def flame_text(
    tree: CallTree, *, event: str, unit: str, width: int = 100, least_ratio: float = 0.01, colour: bool = False
) -> str:
    """The tree from its root, the heaviest callee first; what has less than `least_ratio` of all is left out, and how
    much that is stands at the end. Callers that pass (nearly) all on to one callee are
    counted in its line."""
    through = tree.totals()
    whole = int(through[0])
    if not whole:
        return "There are no samples to show.\n"
    shown = through >= max(least_ratio * whole, 1)
    children = _children(tree, through, shown)
    head = f"{_amount(whole, unit)} of {event}; frames with {format_ratio(least_ratio)} and more"
    width = max(40, width)
    lines = [
        *wrapped(head, width),
        *wrapped("(+n): n callers above it that pass nearly all on to it", width),
        "  total    self",
    ]
    if tree.self_weights[0]:
        lines.append(_line(int(tree.self_weights[0]), int(tree.self_weights[0]), whole, 0, NO_STACK, width, colour))
    todo = [(node, 0) for node in reversed(children.get(0, []))]
    while todo:
        node, depth = todo.pop()
        chain = [node]
        while (
            len(below := children.get(node, [])) == 1
            and tree.self_weights[node] < 0.001 * whole
            and through[below[0]] >= _NEARLY_ALL * through[node]
        ):
            node = below[0]
            chain.append(node)
        own = int(tree.self_weights[chain].sum())
        lines.append(_line(int(through[chain[0]]), own, whole, depth, _chained(tree, chain), width, colour))
        todo += [(callee, depth + 1) for callee in reversed(children.get(node, []))]
    hidden = ~shown
    hidden[0] = False
    if left_out := int(tree.self_weights[hidden].sum()):
        said = f"Left out: frames under {format_ratio(least_ratio)} of all, {format_ratio(left_out / whole)} together."
        lines += wrapped(said, width)
    return "\n".join(lines) + "\n"


def _children(tree: CallTree, through: NDArray[np.int64], shown: NDArray[np.bool_]) -> dict[int, list[int]]:
    """The callees of each node that are shown, the heaviest first."""
    nodes = np.flatnonzero(shown)
    nodes = nodes[tree.parents[nodes] >= 0]
    order = sorted(nodes.tolist(), key=lambda node: (-int(through[node]), tree.names[tree.frames[node]]))
    found: dict[int, list[int]] = {}
    for node in order:
        found.setdefault(int(tree.parents[node]), []).append(node)
    return found


def _line(total: int, own: int, whole: int, depth: int, name: str, width: int, colour: bool) -> str:
    ratio = total / whole
    columns = _BAR if width >= _WIDE else _NARROW_BAR
    room = width - columns - _FIGURES
    indent = " " * min(depth, _MOST_INDENT, room * 4 // 7)
    self_share = format_ratio(own / whole) if own else ""
    bar = bar_of(ratio, columns)
    if colour:
        bar = f"\x1b[33m{bar}\x1b[0m"
    return f"{format_ratio(ratio):>7} {self_share:>7}  {bar}  {indent}{tail(name, room - len(indent))}"


def _chained(tree: CallTree, chain: list[int]) -> str:
    """The last of the frames in a line as Class.method, with how many stand above it."""
    last = ".".join(visible(tree.names[tree.frames[chain[-1]]]).rsplit(".", 2)[-2:])
    return last if len(chain) == 1 else f"{last} (+{len(chain) - 1})"


def _amount(weight: int, unit: str) -> str:
    if unit == "bytes":
        return format_bytes(weight)
    return format_ms(weight / 1e6) if unit == "ns" else f"{format_count(weight)} samples"
