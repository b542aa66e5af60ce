"""Samples to the data of a page: one call tree, with a weight column per event, stage, task, thread state, time …"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import totals, tree_arrays
from emberscope.profile.flame_tree import FACETS, Facet, FlameData, SingleTask
from emberscope.profile.fold import NO_STACK, labels_of, natural_weight, preorder, renumbered, unit_of
from emberscope.profile.fold import weights_of as sample_weights
from emberscope.profile.single_tasks import single_tasks
from emberscope.profile.time_buckets import bucket_lengths
from emberscope.tables.frame_kinds import JAVA
from emberscope.tables.samples import EVENTS

SOURCES: Final = {
    "stage": "stage_id",
    "attempt": "stage_attempt",
    "sql": "sql_execution_id",
    "role": "role",
    "executor": "executor_id",
    "state": "state",
    "task": "task_id",
}
"""The column of table samples behind each facet but time."""


def flame_data(
    samples: pa.Table,
    stacks: pa.Table,
    frames: pa.Table,
    tasks: pa.Table | None = None,
    start_ns: int | None = None,
) -> FlameData:
    """The tree of all samples with one column per event and value of each facet.

    Each event has the weight that is natural to it (`natural_weight`): samples for cpu, wall and native, bytes or ns
    else. Siblings stand in falling order of their share of the first event in `EVENTS` that there is; the later events
    only decide where the earlier have nothing. The order stays when a page is sliced: a frame keeps its place.

    `tasks` (table tasks) chooses the single tasks that have columns of their own (`single_tasks`); samples of all
    others, and of all tasks where it is None, are outside of any. `start_ns` (epoch ns) is where times count from;
    without it there are no time buckets.
    """
    samples = samples.filter(pc.is_valid(samples["event"]))
    parents, frame_ids, names, kinds = _with_no_stack_frame(stacks, frames)
    rows = _rows(samples, len(parents), single_tasks(tasks) if tasks is not None else (), start_ns)
    columns = _columns(rows)
    order = _order(parents, frame_ids, names, rows)
    new_parents, new_frames, kept, place = renumbered(parents, frame_ids, order)
    nodes = place[columns.nodes].astype(np.int32)
    inside = np.lexsort((nodes, np.repeat(np.arange(len(columns.bounds) - 1), np.diff(columns.bounds))))
    return FlameData(
        new_parents,
        new_frames,
        tuple(names[k] for k in kept),
        tuple(kinds[k] for k in kept),
        rows.events,
        columns.event_places,
        columns.facets,
        columns.bounds,
        nodes[inside],
        columns.weights[inside],
        rows.bucket_ns,
        rows.tasks,
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Samples as arrays, one entry each: `places` by facet as in `Facet`, with the facets' `values`."""

    events: tuple[tuple[str, str], ...]
    event_places: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    places: dict[str, npt.NDArray[np.int64]]
    values: dict[str, tuple[int | str, ...] | range]
    bucket_ns: int | None
    tasks: tuple[SingleTask, ...]


@dataclass(frozen=True, slots=True)
class _Columns:
    event_places: npt.NDArray[np.int32]
    facets: dict[str, Facet]
    bounds: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]


def _rows(samples: pa.Table, node_count: int, chosen: tuple[SingleTask, ...], start_ns: int | None) -> _Rows:
    names = samples["event"].cast(pa.string())
    event_places = np.zeros(samples.num_rows, np.int64)
    weights = np.zeros(samples.num_rows, np.int64)
    events: list[tuple[str, str]] = []
    for event in EVENTS:
        here = pc.equal(names, event).to_numpy(zero_copy_only=False).astype(bool)
        if here.any():
            of_event = samples.filter(pa.array(here))
            weight = natural_weight(of_event, event)
            event_places[here] = len(events)
            weights[here] = sample_weights(of_event, weight)
            events.append((event, unit_of(of_event, weight)))
    nodes = samples["stack"].fill_null(0).to_numpy().astype(np.int64)
    nodes[nodes == 0] = node_count - 1
    places: dict[str, npt.NDArray[np.int64]] = {}
    values: dict[str, tuple[int | str, ...] | range] = {}
    for name, column in SOURCES.items():
        among = [task.task_id for task in chosen] if name == "task" else None
        values[name], places[name] = _encoded(samples[column], among)
    bucket_ns = None
    if start_ns is not None:
        bucket_ns, values["time"], places["time"] = _bucketed(samples["time_ns"], start_ns)
    by_id = {task.task_id: task for task in chosen}
    return _Rows(
        tuple(events),
        event_places,
        nodes,
        weights,
        {name: places[name] for name in FACETS if values.get(name)},
        {name: values[name] for name in FACETS if values.get(name)},
        bucket_ns if values.get("time") else None,
        tuple(by_id[int(task_id)] for task_id in values["task"]),
    )


def _encoded(column: pa.ChunkedArray, among: list[int] | None) -> tuple[tuple[int | str, ...], npt.NDArray[np.int64]]:
    """The distinct values in ascending order, and for each row 0 for null, else one more than the value's place.

    `among` is what may be told apart, in its order; all else is as null.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    known = pc.unique(column).drop_null()
    if among is None:
        dictionary = known.take(pc.sort_indices(known))
    else:
        here = set(known.to_pylist())
        dictionary = pa.array([value for value in among if value in here], column.type)
    places = pc.index_in(column, value_set=dictionary) if len(dictionary) else pa.nulls(len(column), pa.int32())
    filled = pc.fill_null(places, -1)
    return tuple(dictionary.to_pylist()), np.asarray(filled.to_numpy(zero_copy_only=False), np.int64) + 1


def _bucketed(times: pa.ChunkedArray, start_ns: int) -> tuple[int, range, npt.NDArray[np.int64]]:
    """The length of a bucket in ns, the numbers of the buckets, and each row's place as in `Facet`."""
    known = times.is_valid().to_numpy(zero_copy_only=False).astype(bool)
    since = times.fill_null(0).to_numpy().astype(np.int64) - start_ns
    if not known.any():
        return 0, range(0), np.zeros(len(since), np.int64)
    low, high = int(since[known].min()), int(since[known].max())
    bucket = next(length for length in bucket_lengths() if high // length - low // length < 1800)
    first = low // bucket
    places = np.where(known, since // bucket - first + 1, 0)
    return bucket, range(first, high // bucket + 1), places


def _columns(rows: _Rows) -> _Columns:
    """The rows summed by event, facets and node. Columns stand in the order of events, then of `FACETS`."""
    key, size = rows.event_places.copy(), max(1, len(rows.events))
    for name, places in rows.places.items():
        key, size = _joined(key, size, places, len(rows.values[name]) + 1)
    key, size = _joined(key, size, rows.nodes, int(rows.nodes.max(initial=0)) + 1, last=True)
    has = np.flatnonzero(rows.weights > 0)
    by_key = has[np.argsort(key[has], kind="stable")]
    sorted_key = key[by_key]
    begins = np.flatnonzero(np.diff(sorted_key, prepend=-1))
    weights = np.add.reduceat(rows.weights[by_key], begins) if len(begins) else np.zeros(0, np.int64)
    cells = by_key[begins]
    facets = np.stack([rows.event_places[cells], *(places[cells] for places in rows.places.values())])
    changes = np.any(np.diff(facets, axis=1, prepend=-1), axis=0) if len(cells) else np.zeros(0, bool)
    columns = np.flatnonzero(changes)
    return _Columns(
        facets[0, columns].astype(np.int32),
        {
            name: Facet(rows.values[name], facets[place, columns].astype(np.int32))
            for place, name in enumerate(rows.places, 1)
        },
        np.append(columns, len(cells)).astype(np.int64),
        rows.nodes[cells],
        weights,
    )


def _joined(
    key: npt.NDArray[np.int64], size: int, places: npt.NDArray[np.int64], count: int, *, last: bool = False
) -> tuple[npt.NDArray[np.int64], int]:
    """A key of two parts in one number that sorts as they do; made dense before it would need more than 63 bits."""
    if size * count >= 2**62:
        known, key = np.unique(key, return_inverse=True)
        size = len(known)
    return key * count + places, size * count


def _order(
    parents: npt.NDArray[np.int32], frame_ids: npt.NDArray[np.int32], names: tuple[str, ...], rows: _Rows
) -> npt.NDArray[np.int64]:
    """The nodes that any sample passes through, depth first."""
    share = np.zeros(len(parents))
    for place in range(len(rows.events)):
        here = rows.event_places == place
        self_weights = np.zeros(len(parents), np.int64)
        np.add.at(self_weights, rows.nodes[here], rows.weights[here])
        through = totals(parents, self_weights)
        share += through / max(int(through[0]), 1) * 1e-9**place
    used = share > 0
    used[0] = True
    rank = np.zeros(len(names) + 1, np.int64)
    rank[np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)] = np.arange(len(names))
    return preorder(parents, used, share, rank[frame_ids])


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
