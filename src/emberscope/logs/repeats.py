"""Records that came before, told by their bytes: of ten million equal lines all but the first cost next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emberscope.logs.clock import stamp_of
from emberscope.logs.folding import Folded

_DIGITS: Final = bytes(48 if 48 <= byte < 58 else byte for byte in range(256))
_MOST_KNOWN: Final = 8192
_LONGEST: Final = 16 * 1024
_LONGEST_STAMP: Final = 48


class Repeats:
    """What became of the records of one log, by the bytes behind their times.

    `with_digits` are literals of signatures that have digits: a record may hold one where another that differs in
    digits alone does not.
    """

    def __init__(self, with_digits: Sequence[bytes], ahead_ms: int = 0) -> None:
        self._with_digits = with_digits
        self._ahead_ms = ahead_ms
        self._length = 0
        self._shape = b""
        self._bare: dict[bytes, Folded | None] = {}
        self._same: dict[bytes, Folded | None] = {}
        self._alike: dict[bytes, Folded | None] = {}

    def begins(self, line: bytes) -> bool:
        """Whether a line begins with a time as the records that are known do."""
        return self._length > 0 and line[: self._length].translate(_DIGITS) == self._shape

    def again(self, record: bytes) -> bool:
        """Count a record that `begins` so where it is known; False where it must be looked at."""
        rest = record[self._length :]
        try:
            row = self._same[rest]
        except KeyError:
            try:
                row = self._alike[rest.translate(_DIGITS)]
            except KeyError:
                return False
            if any(literal in rest for literal in self._with_digits):
                return False
        if row is not None:
            stamp = stamp_of(record[: self._length].decode("ascii", "replace"))
            row.again(stamp[1] - self._ahead_ms if stamp is not None and stamp[1] is not None else None)
        return True

    def keep(self, record: bytes, row: Folded | None, *, alike: bool) -> None:
        """Remember what a record became: None where it was left out. With `alike`, one that differs from it in digits
        alone becomes the same."""
        if len(record) > _LONGEST:
            return
        stamp = stamp_of(record[:_LONGEST_STAMP].decode("ascii", "replace"))
        if stamp is None or stamp[1] is None:
            if b"\n" not in record:
                _put(self._bare, record, row)
            return
        shape = record[: stamp[0]].translate(_DIGITS)
        if shape != self._shape:
            self.forget()
            self._length, self._shape = stamp[0], shape
        known, rest = (
            (self._alike, record[stamp[0] :].translate(_DIGITS)) if alike else (self._same, record[stamp[0] :])
        )
        _put(known, rest, row)

    def again_without_time(self, line: bytes) -> bool:
        """Count a line that has no time and is known; False where it must be looked at."""
        try:
            row = self._bare[line]
        except KeyError:
            return False
        if row is not None:
            row.count += 1
        return True

    def forget(self) -> None:
        """What comes is of another writer."""
        self._bare.clear()
        self._same.clear()
        self._alike.clear()


def _put(known: dict[bytes, Folded | None], key: bytes, row: Folded | None) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = row
