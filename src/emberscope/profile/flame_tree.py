"""One call tree with many sparse weight columns: what a page carries so that it can slice without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from emberscope.profile.fold import CallTree

FACETS: Final = ("stage", "attempt", "sql", "role", "executor", "state", "task", "time")
"""What a page can be sliced by besides the event, in the order by which columns stand. The names are those of the
page's address; all but `time` are columns of table samples (`flame_rows.SOURCES`)."""


@dataclass(frozen=True, slots=True, eq=False)
class Facet:
    """One way to slice. `places` (int32, one for each column) is 0 for samples outside of any, else one more than the
    place in `values`: ids as integers, names as strings, for `time` the numbers of buckets, without a gap."""

    values: Sequence[int | str]
    places: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SingleTask:
    """A task attempt that has columns of its own. `group` is `slow`, `median` or nothing."""

    task_id: int
    stage_id: int
    run_ms: int
    group: str


@dataclass(frozen=True, slots=True, eq=False)
class FlameData:
    """A call tree in the order of `compacted`: depth first, each node after its caller, with its weight columns.

    `parents` and `frames` (int32; -1 for the root) as in `CallTree`; `names` and `kinds` by frame. Samples without a
    stack stand at a frame of their own, `NO_STACK`, so that the picture shows them too.

    A column holds the self weights of one event and one value of each facet. Column c has the cells `bounds[c]` to
    `bounds[c + 1]` of `nodes` (int32, strictly ascending in a column) and `weights` (int64, above zero); `event_places`
    (int32) is its place in `events`, which has names and units (samples, ns or bytes). A facet that no column is
    inside of is not in `facets`. `bucket_ns` is the length of the buckets of facet `time`; bucket 0 begins where times
    count from. `tasks` says what the values of facet `task` are, in their order. `notes` say what is coarser than it
    could be.
    """

    parents: npt.NDArray[np.int32]
    frames: npt.NDArray[np.int32]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    events: tuple[tuple[str, str], ...]
    event_places: npt.NDArray[np.int32]
    facets: Mapping[str, Facet]
    bounds: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    bucket_ns: int | None = None
    tasks: tuple[SingleTask, ...] = ()
    notes: tuple[str, ...] = ()

    def tree(self, event: str, where: Mapping[str, int | str | None] | None = None) -> CallTree:
        """The call tree of one event, restricted to the facets given: `{"stage": 7, "sql": None}` is what ran in stage
        7 outside of any SQL execution."""
        names = [name for name, _ in self.events]
        chosen = self.event_places == (names.index(event) if event in names else -1)
        for name, value in (where or {}).items():
            chosen &= self._is(name, value)
        self_weights = np.zeros(len(self.parents), np.int64)
        cells = np.repeat(chosen, np.diff(self.bounds))
        np.add.at(self_weights, self.nodes[cells], self.weights[cells])
        return CallTree(self.parents, self.frames, self_weights, self.names, self.kinds)

    def values(self, name: str) -> frozenset[int | str]:
        """The values of a facet, without "outside of any"."""
        return frozenset(self.facets[name].values) if name in self.facets else frozenset()

    def _is(self, name: str, value: int | str | None) -> npt.NDArray[np.bool_]:
        """For each column whether it has this value of the facet."""
        facet = self.facets.get(name)
        if facet is None:
            return np.full(len(self.event_places), value is None)
        place = 0 if value is None else (facet.values.index(value) + 1 if value in facet.values else -1)
        return np.asarray(facet.places == place)


def from_tree(tree: CallTree, *, event: str, unit: str) -> FlameData:
    """A compacted call tree (`compacted`) as data with a single column. Weight at the root stays there."""
    nodes = np.flatnonzero(tree.self_weights).astype(np.int32)
    return FlameData(
        tree.parents,
        tree.frames,
        tree.names,
        tree.kinds,
        ((event, unit),),
        np.zeros(1, np.int32),
        {},
        np.array([0, len(nodes)], np.int64),
        nodes,
        tree.self_weights[nodes],
    )
