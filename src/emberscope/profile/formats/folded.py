"""Folded stacks ("collapsed"): one line per stack, as flamegraph.pl and most other tools read them."""

from __future__ import annotations

from typing import Final

from emberscope.profile.ancestry import depths
from emberscope.profile.fold import NO_STACK, CallTree, compacted
from emberscope.tables.frame_kinds import ENDINGS

_UNSAFE: Final = str.maketrans({";": ":", "\r": " ", "\n": " "})


def folded(tree: CallTree) -> str:
    """The stacks that carry weight, root first: frames joined by `;`, a space, the weight.

    `;` in a name becomes `:`, CR and LF become a space. Samples without a stack are the frame `[no stack]`, so the
    weights sum to that of the tree. The heaviest branch comes first. Where compilation is told apart, a frame has the
    ending that async-profiler gives it: `_[0]` interpreted, `_[1]` by C1, `_[j]` compiled, `_[i]` inlined.
    """
    tree = compacted(tree)
    names = [name.translate(_UNSAFE) for name in labels_of_kinds(tree)]
    lines = [f"{NO_STACK} {tree.self_weights[0]}\n"] if tree.self_weights[0] else []
    path: list[str] = []
    for depth, frame, weight in zip(
        depths(tree.parents)[1:].tolist(), tree.frames[1:].tolist(), tree.self_weights[1:].tolist(), strict=True
    ):
        del path[depth - 1 :]
        path.append(names[frame])
        if weight:
            lines.append(f"{';'.join(path)} {weight}\n")
    return "".join(lines)


def labels_of_kinds(tree: CallTree) -> list[str]:
    """Names of the tree's frames, each with the ending that says how it was compiled, where its kind does."""
    return [name + ENDINGS.get(kind, "") for name, kind in zip(tree.names, tree.kinds, strict=True)]
