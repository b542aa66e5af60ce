"""The call tree as JSON columns, for programs."""

from __future__ import annotations

from typing import Any

from emberscope.profile.classify import family_of
from emberscope.profile.fold import CallTree, compacted


def columns(tree: CallTree, *, event: str, unit: str) -> dict[str, Any]:
    """The body of `flame --format json`: the tree depth first, node 0 the root, -1 where the root has no value.

    `parents`, `frames`, `self` and `total` are by node, `names`, `kinds` and `families` by frame. The caller adds
    `schema` and `coverage`.
    """
    tree = compacted(tree)
    return {
        "event": event,
        "unit": unit,
        "total": int(tree.self_weights.sum()),
        "nodes": {
            "parent": tree.parents.tolist(),
            "frame": tree.frames.tolist(),
            "self": tree.self_weights.tolist(),
            "total": tree.totals().tolist(),
        },
        "frames": {
            "name": list(tree.names),
            "kind": list(tree.kinds),
            "family": [family_of(name, kind) for name, kind in zip(tree.names, tree.kinds, strict=True)],
        },
    }
