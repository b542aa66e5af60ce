"""A set of integers that are mostly small and close together, such as the ids that Spark gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BIT: Final = np.left_shift(1, np.arange(8)).astype(np.uint8)


class IdSet:
    """Takes arrays of int64, and says which of others it holds.

    A bit for each number up to the largest one below `most`; numbers that are not below it, or negative, are kept one
    by one: they are rare, and where a log is damaged they may be anything.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._bits = np.zeros(0, dtype=np.uint8)
        self._others: set[int] = set()

    def add(self, ids: NDArray[np.int64]) -> None:
        small = (ids >= 0) & (ids < self._most)
        if not small.all():
            self._others.update(ids[~small].tolist())
            ids = ids[small]
        if not len(ids):
            return
        size = (int(ids.max()) >> 3) + 1
        if size > len(self._bits):
            grown = np.zeros(max(size, len(self._bits) + len(self._bits) // 2), dtype=np.uint8)
            grown[: len(self._bits)] = self._bits
            self._bits = grown
        np.bitwise_or.at(self._bits, ids >> 3, _BIT[ids & 7])

    def holds(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A flag for each of these."""
        known = np.zeros(len(ids), dtype=np.bool_)
        small = (ids >= 0) & (ids < 8 * len(self._bits))
        among = ids[small]
        known[small] = (self._bits[among >> 3] & _BIT[among & 7]) != 0
        if self._others:
            known |= np.fromiter((number in self._others for number in ids.tolist()), dtype=np.bool_, count=len(ids))
        return known

    def _count(self) -> int:
        return int(np.bitwise_count(self._bits).sum(dtype=np.int64))

    def __len__(self) -> int:
        return self._count() + len(self._others)

    def gaps(self, more: NDArray[np.int64]) -> int:
        """How many numbers from 0 to the largest are neither here nor in `more`, which has each of its numbers once."""
        more = more[(more >= 0) & ~self.holds(more)]
        others = [number for number in self._others if number >= 0]
        count = self._count() + len(others) + len(more)
        used = np.flatnonzero(self._bits)
        largest = 8 * int(used[-1]) + int(self._bits[used[-1]]).bit_length() - 1 if len(used) else -1
        return int(max([largest, *others, *more.tolist()])) + 1 - count

    def packed(self) -> bytes:
        """All of it in few bytes."""
        return msgspec.msgpack.encode((np.trim_zeros(self._bits, "b").tobytes(), list(self._others)))

    def unpack(self, packed: bytes) -> IdSet:
        """Becomes what was packed, and gives itself."""
        bits, others = msgspec.msgpack.decode(packed, type=tuple[bytes, list[int]])
        self._bits, self._others = np.frombuffer(bits, dtype=np.uint8).copy(), set(others)
        return self
