"""Events and constants of a chunk as Arrow tables, one for each type.

A field is a column under its own name, one of a struct under its path (`heapSpace.start`), and what a reference leads
to under the name of the reference (`eventThread.javaName`; `emberscope.jfr.leaves` says what stands for what):

- numbers as wide as in the file, without sign where the metadata say so; texts as dictionaries;
- points in time as `timestamp[ns, UTC]` by the chunk's own clock, time spans as `duration[ns]`; "not set" and "without
  end" (the least and the largest number of 64 bits) and what damage has put beyond 64 bits are null;
- arrays as lists; a stack as one text, the leaf first, or as a list of its frames;
- null where a reference leads nowhere.

Fields carry `label`, `description` and `unit` (bytes, bits, Hz, ratio, address, ns) in their metadata where the
recording has them, schemas `event`, `label`, `description` and `category`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pyarrow as pa

from emberscope.jfr.layout import KEY
from emberscope.jfr.leaves import TEXT, Leaf, Leaves
from emberscope.jfr.secrets import Secrets
from emberscope.jfr.stack_text import MOST_FRAMES, depths

if TYPE_CHECKING:
    from emberscope.jfr.chunk import Chunk

Stacks = Literal["text", "frames", "distinct"]

_PIECE_ROWS: Final = 1 << 17
_PIECE_FRAMES: Final = 1 << 17
_ABOUT: Final = {"label": "Label", "description": "Description", "category": "Category"}


class Tables:
    """The tables of one chunk. `redacted` counts the values that were hidden, `unresolved` keys that lead nowhere."""

    def __init__(self, chunk: Chunk) -> None:
        self._metadata = chunk.metadata
        self._layouts = chunk.layouts
        self._decoder = chunk.decoder
        self._leaves = Leaves(chunk)
        self._secrets = Secrets()

    @property
    def redacted(self) -> int:
        return self._secrets.count

    @property
    def unresolved(self) -> int:
        return self._leaves.unresolved

    def table(self, name: str, *, stacks: Stacks = "text", redact: bool = True) -> pa.Table:
        """All events, or constants, of a type.

        With `stacks="frames"` a stack is a list of structs of what the file says of each frame, leaf first (`method`,
        `lineNumber`, `bytecodeIndex`, `type` …): exact, and large; with `"distinct"` as well, as a dictionary that
        holds each stack once. Raises `KeyError` where the chunk has no such type, or it was not asked for or not
        readable.
        """
        type_id = self._type_id(name)
        return self._table(type_id, self._leaves.of(type_id), 0, self._decoder.rows(type_id), stacks, redact)

    def pieces(
        self, name: str, *, stacks: Stacks = "text", redact: bool = True, most_frames: int = _PIECE_FRAMES
    ) -> Iterator[pa.Table]:
        """The same rows in tables that stay small where their texts are written out; none where there are no rows.

        A table has stacks of no more than `most_frames` frames, but for a single row.
        """
        type_id = self._type_id(name)
        leaves = self._leaves.of(type_id)
        rows = self._decoder.rows(type_id)
        for start, stop in self._pieces(leaves, rows, most_frames):
            yield self._table(type_id, leaves, start, stop, stacks, redact)

    def pool(self, name: str, *, redact: bool = True) -> pa.Table:
        """All constants of a type, with their `key`; else as `table`."""
        type_id = self._type_id(name)
        keys = self._leaves.numbers(type_id, KEY)
        if keys is None or (len(self._layouts[type_id].columns) == 1 and self._metadata.types[type_id].fields):
            raise KeyError(f"{name} has no constants, or they were not read")
        table = self._table(type_id, self._leaves.of(type_id), 0, len(keys), "text", redact)
        return table.add_column(0, "key", pa.array(keys))

    def _type_id(self, name: str) -> int:
        found = self._metadata.by_name.get(name)
        if found is None or found.id not in self._layouts:
            raise KeyError(f"{name} is not described in this chunk, or was not read")
        return found.id

    def _pieces(self, leaves: list[Leaf], rows: int, most_frames: int) -> Iterator[tuple[int, int]]:
        ends = None
        for leaf in leaves:
            if leaf.refers == "stack":
                all_depths = np.minimum(depths(self._leaves, leaf.pool), MOST_FRAMES)
                which = leaf.values.fill_null(-1).to_numpy(zero_copy_only=False)
                if len(all_depths):
                    frames = np.cumsum(np.where(which >= 0, all_depths[which], 0))
                    ends = frames if ends is None else ends + frames
        start = 0
        while start < rows:
            stop = min(rows, start + _PIECE_ROWS)
            if ends is not None:
                before = ends[start - 1] if start else 0
                stop = min(stop, max(start + 1, int(np.searchsorted(ends, before + most_frames, "right"))))
            yield start, stop
            start = stop

    def _table(self, type_id: int, leaves: list[Leaf], start: int, stop: int, stacks: Stacks, redact: bool) -> pa.Table:
        columns: dict[str, pa.Array] = {}
        fields: list[pa.Field] = []
        for leaf in leaves:
            if leaf.name in columns:  # damaged types repeat names
                continue
            if leaf.refers == "stack" and stacks != "text":
                distinct = leaf.values.slice(start, stop - start).dictionary_encode()
                frames = self._leaves.frames(leaf.pool, distinct.dictionary)
                if stacks == "frames":
                    values = frames.take(distinct.indices)
                else:
                    values = pa.DictionaryArray.from_arrays(distinct.indices, frames)
            else:
                values = self._leaves.finished(leaf, start, stop - start)
            if redact and not leaf.is_code:
                values = self._clean(leaf.name, values, columns)
            columns[leaf.name] = values
            fields.append(pa.field(leaf.name, values.type, metadata=_field_facts(leaf, values.type)))
        schema = pa.schema(fields, metadata=self._type_facts(type_id))
        return pa.Table.from_arrays(list(columns.values()), schema=schema)

    def _clean(self, name: str, values: pa.Array, before: dict[str, pa.Array]) -> pa.Array:
        if name == "value" and values.type == TEXT:
            keys = before.get("key", before.get("name"))
            if keys is not None and keys.type == TEXT:
                return self._secrets.paired(keys, values)
        return self._secrets.cleaned(name, values)

    def _type_facts(self, type_id: int) -> dict[str, str]:
        metadata = self._metadata
        kind = metadata.types[type_id]
        found = {key: metadata.annotation(kind, f"jdk.jfr.{name}") for key, name in _ABOUT.items()}
        return {"event": kind.name} | {key: text for key, text in found.items() if text}


def _field_facts(leaf: Leaf, kind: pa.DataType) -> dict[str, str]:
    told = leaf.meaning
    unit = "ns" if pa.types.is_duration(kind) else told.unit
    facts = {"label": told.label, "description": told.description, "unit": unit}
    return {key: text for key, text in facts.items() if text}
