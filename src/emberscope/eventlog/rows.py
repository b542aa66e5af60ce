"""Rows of tables that are not done: the latest at hand, the others packed, in memory or in a file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Generic, TypeVar

import msgspec
import numpy as np

from emberscope.eventlog.places import Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
Row = dict[str, Any]
Files = Callable[[], BinaryIO]
"""Gives a new file for reading and writing, that somebody else closes."""

AT_HAND: Final = 512
"""How many are at hand where the rest lies in a file."""
_AT_HAND_BYTES: Final = 8 << 20
_HERE: Final = -1
_GONE: Final = -2


@dataclass(frozen=True, slots=True)
class Packing(Generic[T]):
    """How something becomes bytes and comes back, and how a new one is made."""

    new: Callable[[], T]
    pack: Callable[[T], bytes]
    unpack: Callable[[bytes], T]


def rows_with(columns: Sequence[str]) -> Packing[Row]:
    """Rows with these columns, others are let go of. A value that is null is absent when the row comes back."""
    encode = msgspec.msgpack.Encoder().encode
    decode = msgspec.msgpack.Decoder(list[Any]).decode

    def unpack(packed: bytes) -> Row:
        values = zip(columns, decode(packed), strict=True)
        return {name: value for name, value in values if value is not None}

    return Packing(dict, lambda row: encode([row.get(name) for name in columns]), unpack)


class Kept(Generic[T]):
    """What belongs to pairs of an id and an attempt, in the order in which they came.

    Without a `file` all of it is at hand. With one only the latest is; the rest lies there, and memory takes 40 bytes
    for each. What `of` gives is for changes until the next call.
    """

    def __init__(self, packing: Packing[T], file: BinaryIO | None) -> None:
        self._packing = packing
        self._file = file
        self._places = Places()
        self._at_hand: dict[int, T] = {}
        self._where = array("q")
        self._sizes = array("L")
        self._end = 0
        self._weight = 0

    def of(self, number: int, attempt: int = 0, weight: int = 0) -> T:
        """What belongs to the pair, made where there is nothing; `weight` is how many bytes it will grow by."""
        place = self._places.of(number, attempt)
        if place == len(self._where):
            self._where.append(_GONE)
            self._sizes.append(0)
        value = self._at_hand.get(place)
        if value is not None:
            self._weight += weight
            return value
        if self._file is not None and (len(self._at_hand) >= AT_HAND or self._weight > _AT_HAND_BYTES):
            self._put_away()
        value = self._packing.new() if self._where[place] == _GONE else self._read(place)
        self._where[place] = _HERE
        self._at_hand[place] = value
        self._weight += weight
        return value

    def find(self, number: int, attempt: int = 0) -> T | None:
        """What belongs to the pair, to look at; None where there is nothing."""
        place = self._places.find(number, attempt)
        return None if place is None or self._where[place] == _GONE else self._get(place)

    def holds(self, number: int, attempt: int = 0) -> bool:
        place = self._places.find(number, attempt)
        return place is not None and self._where[place] != _GONE

    def drop(self, number: int, attempt: int = 0) -> None:
        """Lets go of what belongs to the pair, if there is anything."""
        place = self._places.find(number, attempt)
        if place is not None:
            self._at_hand.pop(place, None)
            self._where[place] = _GONE

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ids and the attempts of all that is kept, in the order in which they came."""
        kept = np.array(self._where, dtype=np.int64) != _GONE
        return self._places.numbers()[kept], self._places.attempts()[kept]

    def take(self, number: int, attempt: int = 0, *, last: bool = False) -> T:
        """What belongs to the pair, which is there; the `last` time it is let go of. Raises `KeyError`."""
        place = self._places.find(number, attempt)
        if place is None or self._where[place] == _GONE:
            raise KeyError((number, attempt))
        value = self._get(place)
        if last:
            self._at_hand.pop(place, None)
            self._where[place] = _GONE
        return value

    def _get(self, place: int) -> T:
        value = self._at_hand.get(place)
        return self._read(place) if value is None else value

    def _read(self, place: int) -> T:
        assert self._file is not None
        self._file.seek(self._where[place])
        return self._packing.unpack(self._file.read(self._sizes[place]))

    def _put_away(self) -> None:
        """Packs the older half of what is at hand; all of it where that is a lot."""
        assert self._file is not None
        heavy = self._weight > _AT_HAND_BYTES
        count = len(self._at_hand) if heavy else (len(self._at_hand) + 1) // 2
        self._file.seek(self._end)
        for place in list(self._at_hand)[:count]:
            packed = self._packing.pack(self._at_hand.pop(place))
            self._file.write(packed)
            self._where[place], self._sizes[place] = self._end, len(packed)
            self._end += len(packed)
        if heavy:
            self._weight = 0
