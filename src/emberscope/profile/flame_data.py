"""One call tree with many sparse weight columns: what a page carries so that it can slice without a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import totals, tree_arrays
from emberscope.profile.fold import NO_STACK, CallTree, labels_of, natural_weight, preorder, renumbered, unit_of
from emberscope.profile.fold import weights_of as sample_weights
from emberscope.tables.frame_kinds import JAVA
from emberscope.tables.samples import EVENTS

FACETS: Final = ("sql_execution_id", "stage_id", "executor_id")
"""What a page can be sliced by; columns of table samples."""


@dataclass(frozen=True, slots=True, eq=False)
class WeightColumn:
    """The self weights of one event, SQL execution, stage and executor. None is "outside of any".

    `nodes` (int32, strictly ascending) and `weights` (int64, above zero) hold the nodes that have any weight; `unit` is
    that of the weights: samples, ns or bytes.
    """

    event: str
    unit: str
    sql_execution_id: int | None
    stage_id: int | None
    executor_id: str | None
    nodes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FlameData:
    """A call tree in the order of `compacted`: depth first, each node after its caller, with its weight columns.

    `parents` and `frames` (int32; -1 for the root) as in `CallTree`; `names` and `kinds` by frame. Samples without a
    stack stand at a frame of their own, `NO_STACK`, so that the picture shows them too.
    """

    parents: npt.NDArray[np.int32]
    frames: npt.NDArray[np.int32]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    columns: tuple[WeightColumn, ...]

    def tree(self, event: str, where: Mapping[str, int | str | None] | None = None) -> CallTree:
        """The call tree of one event, restricted to the facets given (`{"stage_id": 7}`)."""
        self_weights = np.zeros(len(self.parents), np.int64)
        for column in self.columns:
            if column.event == event and all(getattr(column, k) == v for k, v in (where or {}).items()):
                self_weights[column.nodes] += column.weights
        return CallTree(self.parents, self.frames, self_weights, self.names, self.kinds)

    def events(self) -> tuple[str, ...]:
        """The events that there are, in the order of `EVENTS`."""
        present = {column.event for column in self.columns}
        return tuple(event for event in EVENTS if event in present)


def flame_data(samples: pa.Table, stacks: pa.Table, frames: pa.Table) -> FlameData:
    """The tree of all samples with one column per event, SQL execution, stage and executor.

    Each event has the weight that is natural to it (`natural_weight`): samples for cpu, wall and native, bytes or ns
    else. Siblings stand in falling order of their share of the first event in `EVENTS` that there is; the later events
    only decide where the earlier have nothing. The order stays when a page is sliced: a frame keeps its place.
    """
    samples = samples.filter(pc.is_valid(samples["event"]))
    parents, frame_ids, names, kinds = _with_no_stack_frame(stacks, frames)
    sparse: list[WeightColumn] = []
    for event in EVENTS:
        of_event = samples.filter(pc.equal(samples["event"], event))
        if of_event.num_rows:
            sparse += _columns(of_event, event, len(parents))
    share = np.zeros(len(parents))
    for rank_of_event, event in enumerate(EVENTS):
        self_weights = np.zeros(len(parents), np.int64)
        for column in sparse:
            if column.event == event:
                self_weights[column.nodes] += column.weights
        through = totals(parents, self_weights)
        share += through / max(int(through[0]), 1) * 1e-9**rank_of_event
    used = share > 0
    used[0] = True
    rank = np.zeros(len(names) + 1, np.int64)
    rank[np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)] = np.arange(len(names))
    order = preorder(parents, used, share, rank[frame_ids])
    new_parents, new_frames, kept, place = renumbered(parents, frame_ids, order)
    columns = []
    for column in sparse:
        nodes = place[column.nodes].astype(np.int32)
        ascending = np.argsort(nodes)
        columns.append(
            WeightColumn(
                column.event,
                column.unit,
                column.sql_execution_id,
                column.stage_id,
                column.executor_id,
                nodes[ascending],
                column.weights[ascending],
            )
        )
    return FlameData(
        new_parents, new_frames, tuple(names[k] for k in kept), tuple(kinds[k] for k in kept), tuple(columns)
    )


def from_tree(tree: CallTree, *, event: str, unit: str) -> FlameData:
    """A compacted call tree (`compacted`) as data with a single column. Weight at the root stays there."""
    nodes = np.flatnonzero(tree.self_weights).astype(np.int32)
    column = WeightColumn(event, unit, None, None, None, nodes, tree.self_weights[nodes])
    return FlameData(tree.parents, tree.frames, tree.names, tree.kinds, (column,))


def _with_no_stack_frame(
    stacks: pa.Table, frames: pa.Table
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], tuple[str, ...], tuple[str, ...]]:
    """The arrays of the tree with one more node, the last: samples without a stack."""
    parents, frame_ids = tree_arrays(stacks)
    names, kinds = labels_of(frames)
    return (
        np.append(parents, np.int32(0)),
        np.append(frame_ids, np.int32(len(names))),
        (*names, NO_STACK),
        (*kinds, JAVA),
    )


def _columns(samples: pa.Table, event: str, node_count: int) -> list[WeightColumn]:
    """The samples of one event, summed by facets and node."""
    weight = natural_weight(samples, event)
    unit, weights = unit_of(samples, weight), sample_weights(samples, weight)
    nodes = samples["stack"].fill_null(0).to_numpy().astype(np.int64)
    nodes[nodes == 0] = node_count - 1
    values: list[list[int | str | None]] = []
    codes = np.zeros(len(nodes), np.int64)
    for name in FACETS:
        plain = samples[name].cast(pa.string()) if name == "executor_id" else samples[name]
        encoded = pc.dictionary_encode(plain).combine_chunks()
        known = encoded.dictionary.to_pylist()
        values.append([*known, None])
        codes = codes * (len(known) + 1) + encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    distinct, column_of = np.unique(codes, return_inverse=True)
    cells, cell_of = np.unique(column_of * np.int64(node_count) + nodes, return_inverse=True)
    sums = np.zeros(len(cells), np.int64)
    np.add.at(sums, cell_of, weights)
    cells, sums = cells[sums > 0], sums[sums > 0]
    bounds = np.searchsorted(cells, np.arange(len(distinct) + 1) * node_count)
    columns = []
    for number, code in enumerate(distinct.tolist()):
        key: list[int | str | None] = []
        for known_values in reversed(values):
            code, place = divmod(code, len(known_values))
            key.insert(0, known_values[place])
        part = slice(bounds[number], bounds[number + 1])
        sql, stage, executor = key
        columns.append(
            WeightColumn(
                event,
                unit,
                None if sql is None else int(sql),
                None if stage is None else int(stage),
                None if executor is None else str(executor),
                (cells[part] - number * node_count).astype(np.int32),
                sums[part],
            )
        )
    return columns
