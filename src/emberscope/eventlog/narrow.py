"""Integer columns kept in as few bytes as their values need, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from emberscope.eventlog.events import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDTHS: Final = ((0xFF, np.uint8), (0xFFFF, np.uint16), (0xFFFFFFFF, np.uint32))


class _Piece(NamedTuple):
    """A column of one batch: values less `base`, None where all are alike; `known` is None where none is absent."""

    base: int
    above: NDArray[np.unsignedinteger] | None
    known: NDArray[np.bool_] | None


class NarrowColumns:
    """Batches of int64 columns in, each column of all of them out. A column takes its bytes once while it is joined."""

    def __init__(self, count: int) -> None:
        self.rows = 0
        self._batches: list[tuple[int, list[_Piece | None]]] = []
        self._count = count

    def add(self, batch: NDArray[np.int64]) -> None:
        """A batch of shape (columns, rows); the values are copied."""
        self.rows += batch.shape[1]
        self._batches.append((batch.shape[1], [_narrow(column) for column in batch]))

    def take(self, at: int) -> NDArray[np.int64]:
        """The column `at` of all batches, which lets go of it."""
        joined = np.empty(self.rows, dtype=np.int64)
        start = 0
        for rows, pieces in self._batches:
            piece, pieces[at] = pieces[at], None
            if piece is None:
                raise ValueError(f"column {at} has been taken")
            part = joined[start : start + rows]
            part[:] = piece.base
            if piece.above is not None:
                part.view(np.uint64)[:] += piece.above
            if piece.known is not None:
                part[~piece.known] = ABSENT
            start += rows
        return joined

    def clear(self) -> None:
        """Forget all batches."""
        self.rows = 0
        self._batches.clear()


def _narrow(column: NDArray[np.int64]) -> _Piece:
    known = column != ABSENT
    if known.all():
        present, mask = column, None
    else:
        present, mask = column[known], known
        if not len(present):
            return _Piece(ABSENT, None, None)
    base, top = int(present.min()), int(present.max())
    if base == top:
        return _Piece(base, None, mask)
    # Differences may not fit int64, but as unsigned numbers they do.
    above = (column if mask is None else np.where(known, column, base)).view(np.uint64) - np.int64(base).view(np.uint64)
    width = next((kind for limit, kind in _WIDTHS if top - base <= limit), np.uint64)
    return _Piece(base, above.astype(width), mask)
