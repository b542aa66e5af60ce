"""Walks up and down a prefix tree held in arrays, level by level in numpy: no loop over nodes, no recursion.

A tree is an array `parents`: `parents[0]` is -1 (the root), every other entry is the node of the caller. The functions
rely on nothing else; a builder that numbers parents before children is not needed. The cost grows with the number of
levels, which recorders bound (JDK Flight Recorder: at most 2048 frames).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

TASK_FRAME = "org.apache.spark.executor.Executor$TaskRunner.run"
"""The frame under which Spark runs a task, its deserialisation and the serialisation of its result."""


def depths(parents: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Frames between each node and the root: 0 for the root. Pointer doubling: log2(depth) passes."""
    above = np.maximum(parents, 0)
    result = (parents >= 0).astype(np.int32)
    while True:
        step = result[above]
        if not step.any():
            return result
        result += step
        above = above[above]


def levels(parents: npt.NDArray[np.int32]) -> list[npt.NDArray[np.int64]]:
    """The nodes of each level, the root's level first, in ascending order of node."""
    depth = depths(parents)
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])


def totals(parents: npt.NDArray[np.int32], weights: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each node the weight of all stacks that pass through it: its own and that of everything below it."""
    result = weights.copy()
    for nodes in reversed(levels(parents)[1:]):
        np.add.at(result, parents[nodes], result[nodes])
    return result


def inherited(
    parents: npt.NDArray[np.int32], own: npt.NDArray[np.int32], *, missing: int = -1
) -> npt.NDArray[np.int32]:
    """For each node the value of the nearest node on the way up (itself first) whose value is not `missing`."""
    result = own.copy()
    for nodes in levels(parents)[1:]:
        empty = nodes[result[nodes] == missing]
        result[empty] = result[parents[empty]]
    return result


def nodes_holding(stacks: pa.Table, frames: pa.Table, name: str = TASK_FRAME) -> npt.NDArray[np.bool_]:
    """For each row of `stacks` whether the frame called `name` is in that stack, at any depth."""
    import pyarrow.compute as pc

    parents, frame_ids = tree_arrays(stacks)
    is_it = np.append(pc.equal(frames["name"], name).to_numpy(zero_copy_only=False).astype(bool), False)
    own = np.where(is_it[frame_ids], 1, -1).astype(np.int32)
    holding: npt.NDArray[np.bool_] = inherited(parents, own) == 1
    return holding


def tree_arrays(stacks: pa.Table) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The columns `parent` and `frame` of table `stacks` as arrays; an empty table is a tree of its root alone."""
    if stacks.num_rows == 0:
        return np.array([-1], np.int32), np.array([-1], np.int32)
    return stacks["parent"].to_numpy().astype(np.int32), stacks["frame"].to_numpy().astype(np.int32)
