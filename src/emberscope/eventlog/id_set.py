"""A set of integers that are mostly small and close together, such as the ids that Spark gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class IdSet:
    """Takes arrays of int64, and says which of others it holds.

    A byte for each number up to the largest one below `most`; numbers that are not below it, or negative, are kept one
    by one: they are rare, and where a log is damaged they may be anything.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._flags = np.zeros(0, dtype=np.bool_)
        self._others: set[int] = set()

    def add(self, ids: NDArray[np.int64]) -> None:
        small = (ids >= 0) & (ids < self._most)
        if not small.all():
            self._others.update(ids[~small].tolist())
            ids = ids[small]
        if not len(ids):
            return
        size = int(ids.max()) + 1
        if size > len(self._flags):
            grown = np.zeros(max(size, len(self._flags) + len(self._flags) // 2), dtype=np.bool_)
            grown[: len(self._flags)] = self._flags
            self._flags = grown
        self._flags[ids] = True

    def holds(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A flag for each of these."""
        known = np.zeros(len(ids), dtype=np.bool_)
        small = (ids >= 0) & (ids < len(self._flags))
        known[small] = self._flags[ids[small]]
        if self._others:
            known |= np.fromiter((number in self._others for number in ids.tolist()), dtype=np.bool_, count=len(ids))
        return known

    def __len__(self) -> int:
        return int(np.count_nonzero(self._flags)) + len(self._others)

    def gaps(self, more: NDArray[np.int64]) -> int:
        """How many numbers from 0 to the largest are neither here nor in `more`, which has each of its numbers once."""
        more = more[(more >= 0) & ~self.holds(more)]
        others = [number for number in self._others if number >= 0]
        count = int(np.count_nonzero(self._flags)) + len(others) + len(more)
        flagged = np.flatnonzero(self._flags[::-1])
        largest = len(self._flags) - 1 - int(flagged[0]) if len(flagged) else -1
        return int(max([largest, *others, *more.tolist()])) + 1 - count
