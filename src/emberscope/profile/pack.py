"""A call tree as few bytes: columns of integers, gzip. The page's `web/flame/unpack.js` is the reader.

```
gzip of
  "EMBF"                      magic, 4 bytes
  version   u32               2; all fixed-size integers are little endian
  length    u32               bytes of the header
  header    JSON, ASCII       below
  sections                    one after the other, as header.sections lists them
```
The header: `families` [[name, words]…], `kinds`, `events` [[event, unit]…], `facets` {name: [value…]} for each facet
but time, `time` null or {"bucket_ns", "first" (number of the first bucket), "count"}, `tasks` [[stage id, run time in
ms, group]…] for each value of facet task, `notes` [text…], and `sections` [[name, encoding, width, bytes, items]…].

```
  names     json              name of each frame, an array
  kinds     integers          of each frame, index into header.kinds
  families  integers          of each frame, index into header.families (`classify.FAMILIES`): the page colours, it
                              does not classify
  closed    integers          of each node but the root, depth first: how many nodes end before it. 0 is a callee of the
                              node before it, 1 its sibling, 2 a sibling of that one's caller …
  labels    integers          frame of each node but the root
  leaves    integers          the nodes that have weight in any column, ascending: node less the one before it
  event     integers          of each column, place in header.events
  FACET     integers          of each column, for each facet that there is, time too: 0 is outside of any, else one more
                              than the place in header.facets (than the bucket less the first); each less that of the
                              column before it, zigzag (0, -1, 1, -2 … as 0, 1, 2, 3 …)
  counts    integers          cells of each column
  cells     integers          of each column in turn: index into leaves, ascending, less the one before it and 1 (the
                              first as it is)
  weights   integers          the weights of the same cells, in the same order
```
Integers are byte planes or varints, as `encoding` says (`profile/integers.py`); `width` is the bytes of the largest.
A column is one event and one value of each facet. Columns are sparse: they cost no more than there are distinct stacks
in each. A reader sums the columns it wants into self weights; totals and positions follow from the tree.
"""

from __future__ import annotations

import gzip
import json
import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from emberscope.errors import InputError
from emberscope.profile.ancestry import depths
from emberscope.profile.classify import FAMILIES, family_of
from emberscope.profile.flame_tree import FACETS, Facet, FlameData, SingleTask, from_tree
from emberscope.profile.fold import CallTree
from emberscope.profile.integers import packed, unpacked

MAGIC: Final = b"EMBF"
VERSION: Final = 2
_JSON: Final = "json"


def pack(tree: CallTree, *, event: str = "cpu", unit: str = "samples") -> bytes:
    """A tree in the order of `compacted`, as bytes; `unpack` gives it back. Raises `ValueError` for another order."""
    return pack_flame(from_tree(tree, event=event, unit=unit))


def unpack(data: bytes) -> CallTree:
    """The tree of `pack`. Raises `InputError` for bytes that are no packed tree."""
    flame = unpack_flame(data)
    return flame.tree(flame.events[0][0])


def pack_flame(flame: FlameData) -> bytes:
    """A tree with all its weight columns as bytes, the same bytes for the same data."""
    families, kinds = list(FAMILIES), sorted(set(flame.kinds))
    family = [families.index(family_of(n, k)) for n, k in zip(flame.names, flame.kinds, strict=True)]
    integers = {
        "kinds": np.array([kinds.index(kind) for kind in flame.kinds], np.int64),
        "families": np.array(family, np.int64),
        **_tree_sections(flame),
        **_column_sections(flame),
    }
    names = json.dumps(flame.names, separators=(",", ":")).encode("ascii")
    listed: list[tuple[str, str, int, int, int]] = [("names", _JSON, 1, len(names), len(flame.names))]
    bodies = [names]
    for name, values in integers.items():
        encoding, width, body = packed(values.astype(np.int64))
        listed.append((name, encoding, width, len(body), len(values)))
        bodies.append(body)
    time = flame.facets.get("time")
    header = {
        "families": [[name, words] for name, words in FAMILIES.items()],
        "kinds": kinds,
        "events": flame.events,
        "facets": {name: list(facet.values) for name, facet in flame.facets.items() if name != "time"},
        "time": time and {"bucket_ns": flame.bucket_ns, "first": time.values[0], "count": len(time.values)},
        "tasks": [[task.stage_id, task.run_ms, task.group] for task in flame.tasks],
        "notes": flame.notes,
        "sections": listed,
    }
    head = json.dumps(header, separators=(",", ":")).encode("ascii")
    raw = b"".join([MAGIC, struct.pack("<II", VERSION, len(head)), head, *bodies])
    return gzip.compress(raw, 6, mtime=0)


def unpack_flame(data: bytes) -> FlameData:
    """The inverse of `pack_flame`. Raises `InputError` for bytes that are no packed tree, or of another version."""
    try:
        raw = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise InputError("packed tree", f"is not whole ({error})") from error
    if raw[:4] != MAGIC:
        raise InputError("packed tree", "does not begin as one")
    version, length = struct.unpack_from("<II", raw, 4)
    if version != VERSION:
        raise InputError("packed tree", f"has version {version}, this program reads {VERSION}")
    header: dict[str, Any] = json.loads(raw[12 : 12 + length])
    names: list[str] = []
    section: dict[str, npt.NDArray[np.int64]] = {}
    at = 12 + length
    for name, encoding, width, size, _ in header["sections"]:
        if encoding == _JSON:
            names = json.loads(raw[at : at + size])
        else:
            section[name] = unpacked(encoding, width, raw[at : at + size])
        at += size
    facets = {name: Facet(tuple(values), _places(section[name])) for name, values in header["facets"].items()}
    if header["time"]:
        first = header["time"]["first"]
        facets["time"] = Facet(range(first, first + header["time"]["count"]), _places(section["time"]))
    bounds = np.append(0, np.cumsum(section["counts"]))
    task_ids = facets["task"].values if "task" in facets else ()
    return FlameData(
        _parents(_depths(section["closed"])),
        np.append(np.int32(-1), section["labels"].astype(np.int32)),
        tuple(names),
        tuple(header["kinds"][kind] for kind in section["kinds"]),
        tuple((event, unit) for event, unit in header["events"]),
        section["event"].astype(np.int32),
        {name: facets[name] for name in FACETS if name in facets},
        bounds,
        np.cumsum(section["leaves"])[_ranks(section["cells"], bounds)].astype(np.int32),
        section["weights"],
        header["time"] and header["time"]["bucket_ns"],
        tuple(SingleTask(int(t), *facts) for t, facts in zip(task_ids, header["tasks"], strict=True)),
        tuple(header["notes"]),
    )


def _tree_sections(flame: FlameData) -> dict[str, npt.NDArray[Any]]:
    """The shape of the tree. Raises `ValueError` where the nodes do not stand depth first."""
    depth = depths(flame.parents).astype(np.int64)
    closed = 1 - np.diff(depth)
    if len(closed) and (closed.min() < 0 or not np.array_equal(_parents(depth), flame.parents)):
        raise ValueError("the nodes do not stand depth first")
    return {"closed": closed, "labels": flame.frames[1:]}


def _column_sections(flame: FlameData) -> dict[str, npt.NDArray[Any]]:
    """What the columns are, and their cells."""
    leaves = np.unique(flame.nodes)
    ranks = np.searchsorted(leaves, flame.nodes)
    steps = np.diff(ranks, prepend=-1) - 1
    starts = flame.bounds[:-1][np.diff(flame.bounds) > 0]
    steps[starts] = ranks[starts]
    return {
        "leaves": np.diff(leaves, prepend=0),
        "event": flame.event_places,
        **{name: _steps(facet.places) for name, facet in flame.facets.items()},
        "counts": np.diff(flame.bounds),
        "cells": steps,
        "weights": flame.weights,
    }


def _ranks(steps: npt.NDArray[np.int64], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The indices into `leaves` that `cells` stands for."""
    sums = np.append(np.int64(0), np.cumsum(steps + 1))
    ranks: npt.NDArray[np.int64] = sums[1:] - 1 - np.repeat(sums[bounds[:-1]], np.diff(bounds))
    return ranks


def _steps(places: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    steps = places.astype(np.int64)
    steps[1:] -= places[:-1]
    return np.where(steps < 0, -2 * steps - 1, 2 * steps)


def _places(zigzag: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    return np.cumsum((zigzag >> 1) ^ -(zigzag & 1)).astype(np.int32)


def _depths(closed: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.append(0, np.cumsum(1 - closed))


def _parents(depth: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """The caller of each node that stands depth first: the last node before it that is one level higher."""
    result = np.full(len(depth), -1, np.int32)
    order = np.argsort(depth, kind="stable")
    bounds = np.cumsum(np.bincount(depth.astype(np.int64)))
    for upper in range(len(bounds) - 1):
        above = order[bounds[upper - 1] if upper else 0 : bounds[upper]]
        nodes = order[bounds[upper] : bounds[upper + 1]]
        result[nodes] = above[np.searchsorted(above, nodes) - 1]
    return result
