"""What is known of ids that are mostly small and close together, in a few bytes each."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.eventlog.events import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROOM: Final = 1 << 12
_HALF: Final = 1 << 31


class Numbers:
    """A number for each id: eight bytes for each id up to the largest, where they are close together.

    Ids far beyond all before them are kept one by one: where a log is damaged they may be anything.
    """

    def __init__(self) -> None:
        self._small = array("q")
        self._others: dict[int, int] = {}

    def __setitem__(self, of: int, value: int) -> None:
        if of in self._others or not 0 <= of < 2 * len(self._small) + _ROOM:
            self._others[of] = value
            return
        if of >= len(self._small):
            more = max(of + 1 - len(self._small), len(self._small) // 4)
            self._small.extend(array("q", (ABSENT,)) * more)
        self._small[of] = value

    def get(self, of: int) -> int | None:
        """The number of an id; None where it has none."""
        if 0 <= of < len(self._small) and (value := self._small[of]) != ABSENT:
            return value
        return self._others.get(of)

    def setdefault(self, of: int, value: int) -> None:
        """Gives an id its number where it has none."""
        if self.get(of) is None:
            self[of] = value


class Places:
    """A place for each pair of an id and an attempt, counted from 0 in the order in which they come first."""

    def __init__(self) -> None:
        self._first = Numbers()  # of attempt 0, as nearly all are
        self._later: dict[tuple[int, int], int] = {}
        self._numbers = array("q")
        self._attempts = array("q")

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, number: int, attempt: int = 0) -> int | None:
        """The place of a pair; None where it has none."""
        return self._later.get((number, attempt)) if attempt else self._first.get(number)

    def of(self, number: int, attempt: int = 0) -> int:
        """The place of a pair, which gets the next one where it has none."""
        place = self.find(number, attempt)
        if place is None:
            place = len(self._numbers)
            if attempt:
                self._later[number, attempt] = place
            else:
                self._first[number] = place
            self._numbers.append(number)
            self._attempts.append(attempt)
        return place

    def numbers(self) -> NDArray[np.int64]:
        """The ids, by place."""
        return np.array(self._numbers, dtype=np.int64)

    def attempts(self) -> NDArray[np.int64]:
        """The attempts, by place."""
        return np.array(self._attempts, dtype=np.int64)


def keys_of(numbers: NDArray[np.int64], attempts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ids and attempts, both of 32 bits, in single numbers that sort as they do."""
    return (numbers.astype(np.int64) << 32) + (attempts.astype(np.int64) + _HALF)


def pair_of(key: int) -> tuple[int, int]:
    """The id and the attempt in a key."""
    return key >> 32, (key & 0xFFFFFFFF) - _HALF
