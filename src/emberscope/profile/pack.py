"""A call tree as few bytes: columnar, variable-length integers, gzip. The page's `web/flame/unpack.js` is the reader.

```
gzip of
  "EMBF"                      magic, 4 bytes
  version   u32               1; all fixed-size integers are little endian
  length    u32               bytes of the header
  header    JSON, UTF-8       {"nodes": n, "families": [[name, words]...], "kinds": [...], "executors": [...],
                               "events": [[event, unit]...], "sections": {name: bytes...},
                               "columns": [[event, sql, stage, executor, cells]...]}
  names     JSON array        name of each frame, ASCII with \\u escapes
  kinds     u8 per frame      index into header.kinds
  families  u8 per frame      index into header.families (`classify.FAMILIES`): the page colours, it does not classify
  levels    n - 1 varints     for each node but the root, depth first: its depth less that of the node before it,
                              zigzag (0, -1, 1, -2 … as 0, 1, 2, 3 …); the root's depth is 0
  labels    n - 1 varints     frame of each node but the root
  cells     varints           of each weight column in turn, `cells` many: node less the node before it in the column
                              (less 0 for the first)
  weights   varints           the weights of the same cells, in the same order
```
A varint has 7 bits a byte, the lowest first, the high bit set on all bytes but the last. In a column, `event` and
`executor` are indices into the header's lists (executor null: none); `sql` and `stage` are ids (null: none). Columns
are sparse, so one per stage, SQL execution, event and executor costs no more than there are distinct stacks in each.
A reader sums the columns it wants into self weights; totals and positions follow from levels.
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
from emberscope.profile.flame_data import FlameData, WeightColumn, from_tree
from emberscope.profile.fold import CallTree

MAGIC: Final = b"EMBF"
VERSION: Final = 1
_SECTIONS: Final = ("names", "kinds", "families", "levels", "labels", "cells", "weights")


def pack(tree: CallTree, *, event: str = "cpu", unit: str = "samples") -> bytes:
    """A tree in the order of `compacted`, as bytes; `unpack` gives it back. Raises `ValueError` for another order."""
    return pack_flame(from_tree(tree, event=event, unit=unit))


def unpack(data: bytes) -> CallTree:
    """The tree of `pack`. Raises `InputError` for bytes that are no packed tree."""
    flame = unpack_flame(data)
    return flame.tree(flame.columns[0].event)


def pack_flame(flame: FlameData) -> bytes:
    """A tree with all its weight columns as bytes, the same bytes for the same data."""
    families, kinds = list(FAMILIES), sorted(set(flame.kinds))
    events = list(dict.fromkeys((column.event, column.unit) for column in flame.columns))
    executors = sorted({column.executor_id for column in flame.columns if column.executor_id is not None})
    depth = depths(flame.parents).astype(np.int64)
    steps = np.diff(depth)
    if len(steps) and (steps.max() > 1 or not np.array_equal(_parents(depth), flame.parents)):
        raise ValueError("the nodes do not stand depth first")
    cells = [np.diff(column.nodes.astype(np.int64), prepend=0) for column in flame.columns]
    family = [families.index(family_of(n, k)) for n, k in zip(flame.names, flame.kinds, strict=True)]
    body = {
        "names": json.dumps(flame.names, separators=(",", ":")).encode("ascii"),
        "kinds": bytes(kinds.index(kind) for kind in flame.kinds),
        "families": bytes(family),
        "levels": varints(np.where(steps < 0, -2 * steps - 1, 2 * steps)),
        "labels": varints(flame.frames[1:].astype(np.int64)),
        "cells": varints(np.concatenate([*cells, np.zeros(0, np.int64)])),
        "weights": varints(np.concatenate([*(column.weights for column in flame.columns), np.zeros(0, np.int64)])),
    }
    header = {
        "nodes": len(flame.parents),
        "families": [[name, words] for name, words in FAMILIES.items()],
        "kinds": kinds,
        "executors": executors,
        "events": [list(event) for event in events],
        "sections": {name: len(body[name]) for name in _SECTIONS},
        "columns": [
            [
                events.index((column.event, column.unit)),
                column.sql_execution_id,
                column.stage_id,
                None if column.executor_id is None else executors.index(column.executor_id),
                len(column.nodes),
            ]
            for column in flame.columns
        ],
    }
    head = json.dumps(header, separators=(",", ":")).encode()
    raw = b"".join([MAGIC, struct.pack("<II", VERSION, len(head)), head, *(body[name] for name in _SECTIONS)])
    return gzip.compress(raw, 6, mtime=0)


def unpack_flame(data: bytes) -> FlameData:
    """The inverse of `pack_flame`. Raises `InputError` for bytes that are no packed tree, or of a later version."""
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
    section: dict[str, bytes] = {}
    at = 12 + length
    for name in _SECTIONS:
        section[name] = raw[at : at + header["sections"][name]]
        at += header["sections"][name]
    zigzag = unvarints(section["levels"])
    depth = np.concatenate([np.zeros(1, np.int64), np.cumsum((zigzag >> 1) ^ -(zigzag & 1))])
    cells, weights = unvarints(section["cells"]), unvarints(section["weights"])
    columns, at = [], 0
    for event, sql, stage, executor, count in header["columns"]:
        name, unit = header["events"][event]
        nodes = np.cumsum(cells[at : at + count]).astype(np.int32)
        executor_id = None if executor is None else header["executors"][executor]
        columns.append(WeightColumn(name, unit, sql, stage, executor_id, nodes, weights[at : at + count]))
        at += count
    return FlameData(
        _parents(depth),
        np.append(np.int32(-1), unvarints(section["labels"]).astype(np.int32)),
        tuple(json.loads(section["names"])),
        tuple(header["kinds"][kind] for kind in section["kinds"]),
        tuple(columns),
    )


def varints(values: npt.NDArray[np.int64]) -> bytes:
    """Non-negative integers, each as a varint, one after the other."""
    left = values.astype(np.uint64)
    sizes = np.ones(len(left), np.int64)
    for bits in range(7, 64, 7):
        sizes += left >= np.uint64(1 << bits)
    starts = np.cumsum(sizes) - sizes
    result = np.zeros(int(sizes.sum()), np.uint8)
    for place in range(int(sizes.max(initial=0))):
        has = np.flatnonzero(sizes > place)
        more = (sizes[has] > place + 1).astype(np.uint8) << 7
        result[starts[has] + place] = ((left[has] >> np.uint64(7 * place)) & np.uint64(127)).astype(np.uint8) | more
    return result.tobytes()


def unvarints(data: bytes) -> npt.NDArray[np.int64]:
    """The integers of `varints`."""
    octets = np.frombuffer(data, np.uint8)
    if not len(octets):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(octets < 128)
    starts = np.append(0, ends[:-1] + 1)
    place = np.arange(len(octets)) - np.repeat(starts, ends - starts + 1)
    parts = (octets & 127).astype(np.int64) << (7 * place)
    return np.add.reduceat(parts, starts)


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
