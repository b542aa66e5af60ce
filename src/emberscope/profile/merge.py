"""Many recordings to one set of tables over one prefix tree: frames are interned, stacks renumbered.

The one costly step on the way from samples to a picture; everything after it adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import levels, tree_arrays
from emberscope.tables.frames import FRAMES
from emberscope.tables.heap_classes import HEAP_CLASSES
from emberscope.tables.marks import MARKS
from emberscope.tables.samples import SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from emberscope.tables.stacks import STACKS
from emberscope.tables.table import Table


class Recorded(Protocol):
    """What can be merged: a `Recording`, or the result of an earlier merge."""

    @property
    def samples(self) -> pa.Table: ...
    @property
    def stacks(self) -> pa.Table: ...
    @property
    def frames(self) -> pa.Table: ...
    @property
    def spans(self) -> pa.Table: ...
    @property
    def series(self) -> pa.Table: ...
    @property
    def marks(self) -> pa.Table: ...
    @property
    def heap_classes(self) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class Merged:
    """The tables of many recordings; `samples.stack` refers to the one `stacks`, which refers to the one `frames`."""

    samples: pa.Table
    stacks: pa.Table
    frames: pa.Table
    spans: pa.Table
    series: pa.Table
    marks: pa.Table
    heap_classes: pa.Table


def merge(recordings: Sequence[Recorded]) -> Merged:
    """All samples, spans, series, marks and heap classes of `recordings`, in their order, over one prefix tree.

    Equal stacks become one node, whichever recording they come from: a frame is equal by name, kind and line.
    Recordings that were read into one growing `StackTree` need no renumbering and get none.
    """
    stacks, frames, places = _merge_trees(recordings)
    samples = []
    for recording, place in zip(recordings, places, strict=True):
        table = recording.samples
        if place is not None:
            new = pa.array(place[table["stack"].fill_null(0).to_numpy()].astype(np.int32))
            table = table.set_column(table.schema.get_field_index("stack"), SAMPLES.schema().field("stack"), new)
        samples.append(table)
    return Merged(
        _concat(SAMPLES, samples),
        stacks,
        frames,
        _concat(SPANS, [recording.spans for recording in recordings]),
        _concat(SERIES, [recording.series for recording in recordings]),
        _concat(MARKS, [recording.marks for recording in recordings]),
        _concat(HEAP_CLASSES, [recording.heap_classes for recording in recordings]),
    )


def _merge_trees(recordings: Sequence[Recorded]) -> tuple[pa.Table, pa.Table, list[npt.NDArray[np.int64] | None]]:
    """The one tree, and for each recording its nodes' new numbers (None: they keep theirs)."""
    if not recordings:
        return STACKS.from_columns({"parent": [-1], "frame": [-1]}), FRAMES.empty(), []
    whole = max(recordings, key=lambda recording: recording.stacks.num_rows)
    if all(_starts_with(whole.stacks, r.stacks) and _starts_with(whole.frames, r.frames) for r in recordings):
        return whole.stacks, whole.frames, [None] * len(recordings)

    frames, new_frames = _intern_frames([recording.frames for recording in recordings])
    trees = [tree_arrays(recording.stacks) for recording in recordings]
    offsets = np.cumsum([0, *(len(parents) for parents, _ in trees)])
    # The trees side by side under one new root, level by level: nodes with one (new parent, frame) become one.
    parents = np.concatenate([np.where(p < 0, -1, p + o) for (p, _), o in zip(trees, offsets, strict=False)])
    frame_ids = np.concatenate(
        [np.append(new, -1)[f] for (_, f), new in zip(trees, new_frames, strict=True)]  # -1, the root's, stays -1
    )
    place = np.zeros(len(parents), np.int64)
    out_parents, out_frames, size = [np.array([-1])], [np.array([-1])], 1
    # The pointer doubling of `levels` takes one root; here every tree's own root is a child of node 0.
    shifted = np.append(np.int32(-1), parents + 1).astype(np.int32)
    for nodes in levels(shifted)[2:]:
        here = nodes - 1
        key = place[parents[here]] * (frames.num_rows + 1) + frame_ids[here]
        distinct, first, number = np.unique(key, return_index=True, return_inverse=True)
        place[here] = size + number
        out_parents.append(place[parents[here[first]]])
        out_frames.append(frame_ids[here[first]])
        size += len(distinct)
    stacks = STACKS.from_columns(
        {"parent": np.concatenate(out_parents).astype(np.int32), "frame": np.concatenate(out_frames).astype(np.int32)}
    )
    return stacks, frames, list(np.split(place, offsets[1:-1]))


def _starts_with(whole: pa.Table, part: pa.Table) -> bool:
    return bool(whole.slice(0, part.num_rows).select(part.column_names).equals(part))


def _intern_frames(tables: Sequence[pa.Table]) -> tuple[pa.Table, list[npt.NDArray[np.int64]]]:
    """The distinct frames in order of first appearance, and for each table the new number of each of its rows."""
    together = _concat(FRAMES, tables)
    key = np.zeros(together.num_rows, np.int64)
    for name in ("name", "kind", "line"):
        column = together[name].combine_chunks()
        encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        part = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        key = np.unique(key * (len(encoded.dictionary) + 1) + part, return_inverse=True)[1].astype(np.int64)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    bounds = np.cumsum([table.num_rows for table in tables])[:-1]
    return together.take(pa.array(np.sort(first))), list(np.split(rank[number], bounds))


def _concat(kind: Table, tables: Sequence[pa.Table]) -> pa.Table:
    if not tables:
        return kind.empty()
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()
