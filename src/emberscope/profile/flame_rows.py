"""Samples as arrays of small integers: what each is of, ready to be summed into weight columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.flame_tree import FACETS, SingleTask
from emberscope.profile.fold import natural_weight, unit_of, weights_of
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

Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Key:
    """Values in their order; `places` has for each sample 0 for none of them, else one more than the place of its."""

    values: Sequence[int | str]
    places: Places


@dataclass(frozen=True, slots=True)
class Rows:
    """Samples as arrays, one entry each. `events` has names and units; `keys` are by facet, those of no use left out;
    `since_ns` is the time from the page's beginning, where `has_time` is true."""

    events: tuple[tuple[str, str], ...]
    event_places: Places
    nodes: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    keys: dict[str, Key]
    since_ns: npt.NDArray[np.int64]
    has_time: npt.NDArray[np.bool_]


def rows_of(samples: pa.Table, node_count: int, tasks: Sequence[SingleTask], start_ns: int | None) -> Rows:
    """The samples whose event is known. Those without a stack are at the last node; of task ids only those in `tasks`
    are told apart, in the order of `tasks`; without `start_ns` no sample has a time."""
    events, event_places, weights = _weighed(samples)
    nodes = samples["stack"].fill_null(0).to_numpy().astype(np.int32)
    nodes[nodes == 0] = node_count - 1
    keys = {
        name: _key(samples[column], [task.task_id for task in tasks] if name == "task" else None)
        for name, column in SOURCES.items()
    }
    times = samples["time_ns"]
    has_time = times.is_valid().to_numpy(zero_copy_only=False).astype(bool) & (start_ns is not None)
    since_ns = times.fill_null(0).to_numpy().astype(np.int64) - (start_ns or 0)
    kept: dict[str, Key] = {name: keys[name] for name in FACETS if name in keys and keys[name].values}
    return Rows(events, event_places, nodes, weights, kept, since_ns, has_time)


def _weighed(samples: pa.Table) -> tuple[tuple[tuple[str, str], ...], Places, npt.NDArray[np.int64]]:
    """The events with their units, and for each sample the place of its event and its natural weight."""
    key = _key(samples["event"], EVENTS)
    weighed = samples.select(["event", "count", "value"])
    weights = np.zeros(samples.num_rows, np.int64)
    events = []
    for place, event in enumerate(key.values, 1):
        here = key.places == place
        of_event = weighed.filter(pa.array(here))
        weight = natural_weight(of_event, str(event))
        weights[here] = weights_of(of_event, weight)
        events.append((str(event), unit_of(of_event, weight)))
    return tuple(events), key.places - 1, weights


def _key(column: pa.ChunkedArray, among: Sequence[int | str] | None) -> Key:
    """The distinct values, ascending, or those of `among` that there are, in its order; all others are as null."""
    codes, known = _texts(column) if pa.types.is_dictionary(column.type) else _numbers(column)
    present = np.zeros(len(known) + 1, bool)
    present[codes] = True
    here = {value for value, seen in zip(known, present, strict=False) if seen}
    values = sorted(here) if among is None else [value for value in among if value in here]
    place_of = {value: place for place, value in enumerate(values, 1)}
    places = np.array([*(place_of.get(value, 0) for value in known), 0], np.int32)
    return Key(tuple(values), places[codes])


def _texts(column: pa.ChunkedArray) -> tuple[npt.NDArray[Any], list[Any]]:
    """For each row a place in the list of texts, one beyond its end for null."""
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no chunk at all
        return np.zeros(0, np.int32), []
    known = whole.dictionary.to_pylist()
    codes = pc.fill_null(whole.indices, len(known)).to_numpy(zero_copy_only=False)
    return codes, known


def _numbers(column: pa.ChunkedArray) -> tuple[npt.NDArray[Any], list[Any]]:
    """As `_texts`, of integers: by a table where they lie close, by search where they do not."""
    is_known = column.is_valid().to_numpy(zero_copy_only=False).astype(bool)
    numbers = column.fill_null(0).to_numpy().astype(np.int64)
    inside = numbers[is_known]
    low, high = (int(inside.min()), int(inside.max())) if len(inside) else (0, -1)
    if high - low < 4 * len(numbers):
        seen = np.zeros(high - low + 1, bool)
        seen[inside - low] = True
        known = np.flatnonzero(seen) + low
        place = np.cumsum(seen) - 1
        codes = np.full(len(numbers), len(known), np.int64)
        codes[is_known] = place[inside - low]
    else:
        known = np.unique(inside)
        codes = np.where(is_known, np.searchsorted(known, numbers), len(known))
    return codes, known.tolist()
