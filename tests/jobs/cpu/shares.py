"""What samples say of the job with known shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from emberscope.profile.ancestry import tree_arrays

BURNING: Final = ("tenth", "fifth", "most")
"""Methods of `KnownShares`, in the order in which it prints their shares."""


def shares(tables: Mapping[str, pa.Table]) -> tuple[list[float], int]:
    """The share (per cent) of each method in the CPU samples that are in one of them, and how many these are."""
    samples, frames = tables["samples"], tables["frames"]
    parents, frame_of = tree_arrays(tables["stacks"])
    wanted = {f"cpu.KnownShares.{name}": place for place, name in enumerate(BURNING)}
    of_frame = np.array([wanted.get(name, -1) for name in frames["name"].to_pylist()] + [-1])
    counts = np.zeros(len(BURNING))
    columns = (samples[name].to_pylist() for name in ("event", "stack", "count"))
    for event, stack, count in zip(*columns, strict=True):
        node = int(stack or 0) if event == "cpu" else 0
        while node > 0 and of_frame[frame_of[node]] < 0:
            node = int(parents[node])
        if node > 0:
            counts[of_frame[frame_of[node]]] += count
    total = counts.sum()
    return [float(100 * count / total) if total else 0.0 for count in counts], int(total)
