"""Folded stacks ("collapsed"): one line per stack, as flamegraph.pl and most other tools read them."""

from __future__ import annotations

from emberscope.profile.ancestry import depths
from emberscope.profile.fold import NO_STACK, CallTree, compacted

_UNSAFE = str.maketrans({";": ":", "\r": " ", "\n": " "})


def folded(tree: CallTree) -> str:
    """The stacks that carry weight, root first: frames joined by `;`, a space, the weight.

    `;` in a name becomes `:`, CR and LF become a space. Samples without a stack are the frame `[no stack]`, so the
    weights sum to that of the tree. The heaviest branch comes first.
    """
    tree = compacted(tree)
    names = [name.translate(_UNSAFE) for name in tree.names]
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
