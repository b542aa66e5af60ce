"""The file format of speedscope (www.speedscope.app/file-format-schema.json), a "sampled" profile."""

from __future__ import annotations

from typing import Any, Final

from emberscope.profile.ancestry import depths
from emberscope.profile.fold import NO_STACK, CallTree, compacted
from emberscope.profile.formats.folded import labels_of_kinds

_UNITS: Final = {"samples": "none", "ns": "nanoseconds", "bytes": "bytes"}


def speedscope(tree: CallTree, *, name: str, unit: str) -> dict[str, Any]:
    """The document to write as JSON. `unit` is `samples`, `ns` or `bytes`; `name` is shown as the profile's.

    Samples without a stack stand at a frame of their own, `[no stack]`.
    """
    tree = compacted(tree)
    stacks: list[list[int]] = []
    weights: list[int] = []
    frames = [{"name": frame} for frame in labels_of_kinds(tree)]
    if tree.self_weights[0]:
        stacks.append([len(frames)])
        weights.append(int(tree.self_weights[0]))
        frames.append({"name": NO_STACK})
    path: list[int] = []
    for depth, frame, weight in zip(
        depths(tree.parents)[1:].tolist(), tree.frames[1:].tolist(), tree.self_weights[1:].tolist(), strict=True
    ):
        del path[depth - 1 :]
        path.append(frame)
        if weight:
            stacks.append(path.copy())
            weights.append(weight)
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "emberscope",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": [
            {
                "type": "sampled",
                "name": name,
                "unit": _UNITS[unit],
                "startValue": 0,
                "endValue": sum(weights),
                "samples": stacks,
                "weights": weights,
            }
        ],
    }
