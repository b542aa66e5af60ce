"""Methods and stacks of a chunk as texts, of as many rows as are wanted at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from emberscope.jfr.leaves import Leaves

BETWEEN_FRAMES: Final = " < "
"""Leaf first, as the file has them; to be read as "called by"."""
UNKNOWN_FRAME: Final = "?"
_MOST_NAME: Final = 1000
"""Letters of a class or a method in these texts. No compiler makes longer ones; damaged files repeat them."""
MOST_FRAMES: Final = 4096
"""Frames of one stack in its text; no recorder keeps more."""
_MOST_BYTES: Final = 1 << 30
_Rows = np.ndarray[Any, Any]


class StackTexts:
    """Texts for rows of the pools of methods and of stack traces of the chunk that has these leaves."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[pa.Array, pa.Array]] = {}

    def methods(self, leaves: Leaves, pool: int, rows: pa.Array) -> pa.DictionaryArray:
        """`package.Class.method` for rows of the pool of methods; null where the row is, or the name is not known."""
        wanted, indices = _distinct(rows)
        return _valid(indices, self._method_texts(leaves, pool, wanted))

    def texts(self, leaves: Leaves, pool: int, rows: pa.Array) -> pa.DictionaryArray:
        """`Class.method:line < … < Class.method:line` for rows of the pool of stack traces, the leaf first.

        The line is left out where it is not known. A text that would be beyond reason ends in `…`.
        """
        wanted, indices = _distinct(rows)
        most = MOST_FRAMES
        texts = self._stack_texts(leaves, pool, wanted, most)
        while texts is None:
            most //= 4
            texts = self._stack_texts(leaves, pool, wanted, most)
        return pa.DictionaryArray.from_arrays(indices, texts)

    def _stack_texts(self, leaves: Leaves, pool: int, rows: _Rows, most: int) -> pa.Array | None:
        """None where they would need too much memory."""
        all_lengths = depths(leaves, pool)
        found = leaves.rows(pool, "frames[].method")
        if found is None:
            return pa.nulls(len(rows), pa.string())
        method_pool, methods = found
        starts = (np.cumsum(all_lengths) - all_lengths)[rows]
        lengths = all_lengths[rows]
        kept = np.minimum(lengths, most)
        ends = np.cumsum(kept)
        places = np.repeat(starts - (ends - kept), kept) + np.arange(ends[-1] if len(ends) else 0)
        lines = leaves.numbers(pool, "frames[].lineNumber")
        numbers = lines[places] if lines is not None else np.zeros(len(places), np.int32)
        encoded = pa.array(methods[places].astype(np.int64) << 32 | np.maximum(numbers, 0)).dictionary_encode()
        frames, which = encoded.dictionary.to_numpy(), encoded.indices
        texts = self._frame_texts(leaves, method_pool, (frames >> 32).astype(np.int32), frames & 0xFFFFFFFF)
        sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False)
        if most > 16 and int(sizes[which.to_numpy()].sum()) + len(which) * len(BETWEEN_FRAMES) > _MOST_BYTES:
            return None
        lists = pa.ListArray.from_arrays(pa.array(np.concatenate(([0], ends)).astype(np.int32)), texts.take(which))
        joined = pc.binary_join(lists, BETWEEN_FRAMES)
        if (kept < lengths).any():
            joined = pc.binary_join_element_wise(joined, pc.if_else(pa.array(kept < lengths), " < …", ""), "")
        return joined

    def _frame_texts(self, leaves: Leaves, pool: int, methods: _Rows, lines: _Rows) -> pa.Array:
        wanted, which = np.unique(methods, return_inverse=True)
        known = pa.array(wanted, mask=wanted < 0)
        names = pc.fill_null(self._method_texts(leaves, pool, known), UNKNOWN_FRAME).take(
            pa.array(which.astype(np.int32))
        )
        shown = pc.binary_join_element_wise(names, pc.cast(pa.array(lines), pa.string()), ":")
        return pc.if_else(pa.array(lines > 0), shown, names)

    def _method_texts(self, leaves: Leaves, pool: int, rows: _Rows | pa.Array) -> pa.Array:
        classes, names = self._parts.get(pool) or self._method_parts(leaves, pool)
        taking = pa.array(rows)
        owners = pc.fill_null(pc.cast(classes.take(taking), pa.string()), "")
        dotted = pc.if_else(pc.equal(owners, ""), "", pc.binary_join_element_wise(owners, "", "."))
        return pc.binary_join_element_wise(dotted, pc.cast(names.take(taking), pa.string()), "")

    def _method_parts(self, leaves: Leaves, pool: int) -> tuple[pa.Array, pa.Array]:
        names = _short(leaves.names(pool))
        classes = pa.nulls(len(names), names.type)
        found = leaves.rows(pool, "type")
        if found is not None:
            of, rows = found
            classes = _short(leaves.class_names(of)).take(pa.array(rows, mask=rows < 0))
        self._parts[pool] = classes, names
        return classes, names


def depths(leaves: Leaves, pool: int) -> _Rows:
    """How many frames each stack trace has."""
    found = leaves.numbers(pool, "frames")
    return found if found is not None else np.zeros(0, np.int64)


def _distinct(rows: pa.Array) -> tuple[_Rows, pa.Array]:
    """The different rows, and for each row its place among them; nulls stay."""
    encoded = rows.dictionary_encode()
    return encoded.dictionary.to_numpy(zero_copy_only=False), encoded.indices


def _valid(indices: pa.Array, texts: pa.Array) -> pa.DictionaryArray:
    """Nulls among the texts as nulls of the rows."""
    if not texts.null_count:
        return pa.DictionaryArray.from_arrays(indices, texts)
    known = pc.is_valid(texts)
    places = pa.array(np.cumsum(known.to_numpy(zero_copy_only=False)) - 1, pa.int32())
    renumbered = pc.if_else(known, places, pa.scalar(None, pa.int32()))
    return pa.DictionaryArray.from_arrays(renumbered.take(indices), texts.filter(known))


def _short(names: pa.DictionaryArray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(names.indices, pc.utf8_slice_codeunits(names.dictionary, 0, _MOST_NAME))
