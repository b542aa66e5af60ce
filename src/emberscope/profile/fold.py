"""Samples to a call tree: the weight of every stack, over one prefix tree. Folds over the same prefix tree add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.errors import UsageError
from emberscope.profile.ancestry import levels, totals, tree_arrays
from emberscope.tables.frame_kinds import JAVA
from emberscope.tables.samples import COUNTED_EVENTS

NO_STACK: Final = "[no stack]"
"""The name under which the formats and the page show samples without a stack."""

_IN_BYTES: Final = frozenset({"alloc", "live", "nativemem"})

Weight = Literal["count", "value"]


@dataclass(frozen=True, slots=True, eq=False)
class CallTree:
    """A call tree in arrays, root first. Node 0 is the root and stands for "all"; it has no frame.

    `parents` and `frames` (int32) give each node its caller and its frame, -1 for the root; `self_weights` (int64) the
    weight of samples whose leaf is that node, for the root those without a stack. `names` and `kinds` belong to the
    frames; `kinds` as in table frames. Two nodes never have both the same parent and the same frame.
    """

    parents: npt.NDArray[np.int32]
    frames: npt.NDArray[np.int32]
    self_weights: npt.NDArray[np.int64]
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    def totals(self) -> npt.NDArray[np.int64]:
        """The weight that passes through each node; that of the root is the sum of all weights."""
        return totals(self.parents, self.self_weights)

    def __add__(self, other: CallTree) -> CallTree:
        """The sum of two folds over one prefix tree. Trees of different prefix trees are for `merge`."""
        if not (
            np.array_equal(self.parents, other.parents)
            and np.array_equal(self.frames, other.frames)
            and self.names == other.names
        ):
            raise ValueError("the two call trees were not folded over one prefix tree")
        return CallTree(self.parents, self.frames, self.self_weights + other.self_weights, self.names, self.kinds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallTree):
            return NotImplemented
        return (
            np.array_equal(self.parents, other.parents)
            and np.array_equal(self.frames, other.frames)
            and np.array_equal(self.self_weights, other.self_weights)
            and self.names == other.names
            and self.kinds == other.kinds
        )

    __hash__ = None  # type: ignore[assignment]


def fold(samples: pa.Table, stacks: pa.Table, frames: pa.Table, *, weight: Weight = "count") -> CallTree:
    """The call tree of these samples over the whole prefix tree `stacks`, in `stacks`' own order.

    `weight` is the number of samples or their value (`unit_of` says in which unit). A frame that has a line is named
    `name:line`. Raises `UsageError` where a value is asked for and some samples have none.
    """
    parents, frame_ids = tree_arrays(stacks)
    self_weights = np.zeros(len(parents), np.int64)
    np.add.at(self_weights, samples["stack"].fill_null(0).to_numpy(), weights_of(samples, weight))
    return CallTree(parents, frame_ids, self_weights, *labels_of(frames))


def weights_of(samples: pa.Table, weight: Weight) -> npt.NDArray[np.int64]:
    """The weight of each sample as int64. Raises `UsageError` for values that are not there."""
    column = samples[weight]
    if column.null_count:
        what = "value in ns or bytes" if weight == "value" else "count"
        raise UsageError(
            f"{column.null_count:,} of {len(column):,} samples have no {what}.", hint="Ask for --unit samples."
        )
    weights: npt.NDArray[np.int64] = column.to_numpy().astype(np.int64)
    return weights


def unit_of(samples: pa.Table, weight: Weight) -> str:
    """`samples`, `ns` or `bytes`: what the weights of these samples count. Raises `UsageError` for a mixture."""
    if weight == "count":
        return "samples"
    events = pc.unique(samples["event"]).to_pylist()
    units = {"bytes" if event in _IN_BYTES else "ns" for event in events if event is not None}
    if len(units) > 1:
        raise UsageError("These samples mix times and bytes, which do not add.", hint="Choose one --event.")
    return units.pop() if units else "samples"


def natural_weight(samples: pa.Table, event: str) -> Weight:
    """The weight to show an event by: samples for cpu, wall and native, else its value where all samples have one.

    Where samples of CPU stand for different times, since the recorder changed its rate to hold a budget or two
    processes had different ones, their number tells nothing: the times do.
    """
    if samples["value"].null_count or (event in COUNTED_EVENTS and not (event == "cpu" and _periods_differ(samples))):
        return "count"
    return "value"


def _periods_differ(samples: pa.Table) -> bool:
    bounds = pc.min_max(samples["value"])
    return bool(bounds["min"].as_py() != bounds["max"].as_py())


def labels_of(frames: pa.Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name (with the line, where there is one) and kind of each frame."""
    lines = frames["line"].fill_null(0).to_pylist()
    names = frames["name"].to_pylist()
    kinds = frames["kind"].cast(pa.string()).fill_null(JAVA).to_pylist()
    return tuple(f"{n}:{line}" if line else n for n, line in zip(names, lines, strict=True)), tuple(kinds)


def preorder(
    parents: npt.NDArray[np.int32],
    used: npt.NDArray[np.bool_],
    sort_key: npt.NDArray[np.float64] | npt.NDArray[np.int64],
    name_rank: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """The used nodes depth first, the root first; siblings by falling `sort_key`, ties by rising `name_rank`.

    `used` must hold the callers of every used node. Position of a child = position of its parent + 1 + the sizes of
    the siblings before it, computed level by level.
    """
    by_level = levels(parents)
    sizes = used.astype(np.int64)
    for nodes in reversed(by_level[1:]):
        np.add.at(sizes, parents[nodes], sizes[nodes])
    order = np.lexsort((name_rank, -sort_key, parents))
    running = np.cumsum(sizes[order]) - sizes[order]
    group = np.flatnonzero(np.r_[True, np.diff(parents[order]) != 0])
    before = np.empty(len(parents), np.int64)
    before[order] = running - np.repeat(running[group], np.diff(np.r_[group, len(order)]))
    position = np.zeros(len(parents), np.int64)
    for nodes in by_level[1:]:
        position[nodes] = position[parents[nodes]] + 1 + before[nodes]
    kept = np.flatnonzero(used)
    result = np.empty(len(kept), np.int64)
    result[position[kept]] = kept
    return result


def renumbered(
    parents: npt.NDArray[np.int32], frames: npt.NDArray[np.int32], order: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Parents and frames of the nodes in `order` with dense numbers; then the frames kept, and new number by node."""
    place = np.full(len(parents), -1, np.int64)
    place[order] = np.arange(len(order))
    kept_frames, dense = np.unique(frames[order][1:], return_inverse=True)
    new_parents = np.append(np.int32(-1), place[parents[order[1:]]]).astype(np.int32)
    return new_parents, np.append(np.int32(-1), dense).astype(np.int32), kept_frames.astype(np.int64), place


def compacted(tree: CallTree) -> CallTree:
    """The same tree without the nodes and names that carry no weight, depth first, the heaviest sibling first.

    The form that is packed, drawn and written out: it depends on the samples alone, not on how they came in.
    """
    through = tree.totals()
    used = through > 0
    used[0] = True
    rank = np.empty(len(tree.names) + 1, np.int64)
    rank[np.array([*sorted(range(len(tree.names)), key=tree.names.__getitem__), -1])] = np.arange(len(rank))
    order = preorder(tree.parents, used, through, rank[tree.frames])
    parents, frames, kept, _ = renumbered(tree.parents, tree.frames, order)
    names, kinds = tuple(tree.names[k] for k in kept), tuple(tree.kinds[k] for k in kept)
    # Names in alphabetical order, so that equal samples give equal trees.
    by_name = np.array(sorted(range(len(names)), key=lambda k: (names[k], kinds[k])), np.int64)
    new = np.empty(len(names) + 1, np.int32)
    new[by_name], new[-1] = np.arange(len(names)), -1
    return CallTree(
        parents,
        new[frames],
        tree.self_weights[order],
        tuple(names[k] for k in by_name),
        tuple(kinds[k] for k in by_name),
    )
