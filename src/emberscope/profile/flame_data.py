"""Samples to the data of a page: one call tree, with a weight column per event, stage, task, thread state, time …"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import totals, tree_arrays
from emberscope.profile.flame_rows import Key, Places, Rows, rows_of
from emberscope.profile.flame_tree import Facet, FlameData
from emberscope.profile.fold import NO_STACK, labels_of, preorder, renumbered
from emberscope.profile.pack import pack_flame
from emberscope.profile.single_tasks import single_tasks
from emberscope.profile.time_buckets import bucket_lengths, length_words
from emberscope.tables.frame_kinds import JAVA

BUDGET_BYTES: Final = 6_000_000
"""Packed data of this size are 8 MB of a page, which leaves 2 MB for all else that a report of 10 MB holds."""

# What cannot reach the budget even so is not measured.
_MOST_BYTES_OF_A_CELL: Final = 12
_MOST_BYTES_OF_A_NODE: Final = 8


def flame_data(
    samples: pa.Table,
    stacks: pa.Table,
    frames: pa.Table,
    tasks: pa.Table | None = None,
    start_ns: int | None = None,
    budget_bytes: int = BUDGET_BYTES,
) -> FlameData:
    """The tree of all samples with one column per event and value of each facet.

    Each event has the weight that is natural to it (`natural_weight`): samples for cpu, wall and native, bytes or ns
    else. Siblings stand in falling order of their share of the first event in `EVENTS` that there is; the later events
    only decide where the earlier have nothing. The order stays when a page is sliced: a frame keeps its place.

    `tasks` (table tasks) chooses the single tasks that have columns of their own (`single_tasks`); samples of all
    others, and of all tasks where it is None, are outside of any. `start_ns` (epoch ns) is where times count from;
    without it there are no time buckets. Data that would pack to more than `budget_bytes` get longer buckets, then no
    single tasks, then no times, and `notes` say so.
    """
    if samples["event"].null_count:
        samples = samples.filter(pc.is_valid(samples["event"]))
    parents, frame_ids, names, kinds = _with_no_stack_frame(stacks, frames)
    chosen = single_tasks(tasks) if tasks is not None else ()
    rows = rows_of(samples, len(parents), chosen, start_ns)
    order = _order(parents, frame_ids, names, rows)
    parents, frame_ids, kept, place = renumbered(parents, frame_ids, order)
    rows = replace(rows, nodes=place[rows.nodes].astype(np.int32))
    by_id = {task.task_id: task for task in chosen}
    for keys, bucket_ns, notes in _ever_coarser(rows):
        flame = FlameData(
            parents,
            frame_ids,
            tuple(names[k] for k in kept),
            tuple(kinds[k] for k in kept),
            rows.events,
            *_columns(rows, keys),
            bucket_ns,
            tuple(by_id[int(task_id)] for task_id in keys["task"].values) if "task" in keys else (),
            notes,
        )
        at_most = len(flame.nodes) * _MOST_BYTES_OF_A_CELL + len(parents) * _MOST_BYTES_OF_A_NODE
        if at_most <= budget_bytes or len(pack_flame(flame)) <= budget_bytes:
            break
    return flame


def _ever_coarser(rows: Rows) -> Iterator[tuple[dict[str, Key], int | None, tuple[str, ...]]]:
    """Keys to try in turn: with the length of the time buckets, and words on what the first keys had and these lack."""
    times = rows.since_ns[rows.has_time]
    lengths = bucket_lengths(int(times.min()), int(times.max())) if len(times) else []
    coarser: tuple[str, ...] = ()
    keys = rows.keys
    for length in lengths:
        if length != lengths[0]:
            fine, coarse = length_words(lengths[0]), length_words(length)
            coarser = (f"To keep this page small, its flame graph knows times in steps of {coarse}, not of {fine}.",)
        keys = {**rows.keys, "time": _buckets(rows, length)}
        yield keys, length, coarser
    if not lengths:
        yield keys, None, ()
    if "task" in keys:
        notes = (*coarser, "To keep this page small, its flame graph does not tell single tasks apart.")
        yield {name: key for name, key in keys.items() if name != "task"}, lengths[-1] if lengths else None, notes
    if lengths:
        notes = ("To keep this page small, its flame graph tells neither times nor single tasks apart.",)
        yield {name: key for name, key in rows.keys.items() if name != "task"}, None, notes


def _buckets(rows: Rows, length_ns: int) -> Key:
    """The number of the bucket that each sample lies in; bucket 0 begins at 0."""
    numbers = rows.since_ns // length_ns
    inside = numbers[rows.has_time]
    first = int(inside.min())
    places = np.where(rows.has_time, numbers - first + 1, 0).astype(np.int32)
    return Key(range(first, int(inside.max()) + 1), places)


def _columns(
    rows: Rows, keys: dict[str, Key]
) -> tuple[Places, dict[str, Facet], npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The rows summed by event, keys and node, as in `FlameData`; columns in the order of events, then of keys."""
    of_column, size = rows.event_places.astype(np.int64), max(1, len(rows.events))
    for key in keys.values():
        of_column, size = _joined(of_column, size, key.places, len(key.values) + 1)
    of_cell, _ = _joined(of_column, size, rows.nodes, int(rows.nodes.max(initial=0)) + 1)
    has = np.flatnonzero(rows.weights > 0)
    by_cell = has[np.argsort(of_cell[has], kind="stable")]
    cells = np.flatnonzero(_changes(of_cell[by_cell]))
    weights = np.add.reduceat(rows.weights[by_cell], cells) if len(cells) else np.zeros(0, np.int64)
    first = by_cell[cells]
    columns = np.flatnonzero(_changes(of_column[first]))
    rows_of_columns = first[columns]
    return (
        rows.event_places[rows_of_columns],
        {name: Facet(key.values, key.places[rows_of_columns]) for name, key in keys.items()},
        np.append(columns, len(cells)).astype(np.int64),
        rows.nodes[first],
        weights,
    )


def _joined(key: npt.NDArray[np.int64], size: int, places: Places, count: int) -> tuple[npt.NDArray[np.int64], int]:
    """A key of two parts in one number that sorts as they do; made dense before it would need more than 63 bits."""
    if size * count >= 2**62:
        known, key = np.unique(key, return_inverse=True)
        size = len(known)
    return key * count + places, size * count


def _changes(values: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Where a value is not that before it; the first never is."""
    return np.append(np.ones(min(1, len(values)), bool), values[1:] != values[:-1])


def _order(
    parents: npt.NDArray[np.int32], frame_ids: npt.NDArray[np.int32], names: tuple[str, ...], rows: Rows
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
