"""Records that came before, told by their bytes: of ten million equal lines all but the first cost next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from emberscope.logs.clock import stamp_of
from emberscope.logs.folding import Folded

_DIGITS: Final = bytes(48 if 48 <= byte < 58 else byte for byte in range(256))
_MOST_KNOWN: Final = 8192
_LONGEST: Final = 16 * 1024
_LONGEST_STAMP: Final = 48
_Known = TypeVar("_Known")


class _Alike(NamedTuple):
    """Records that differ in digits alone. `literals` are those that some of them hold for their digits, and others do
    not; `rows` is what they became, by which of the literals they hold."""

    literals: tuple[bytes, ...]
    rows: dict[tuple[bytes, ...], Folded | None]


class Repeats:
    """What became of the records of one log, by the bytes behind their times.

    `with_digits` are literals of signatures that have digits: a record may hold one where another that differs in
    digits alone does not.
    """

    def __init__(self, with_digits: Sequence[bytes], ahead_ms: int = 0) -> None:
        self._with_digits = [(literal, literal.translate(_DIGITS)) for literal in with_digits]
        self._ahead_ms = ahead_ms
        self._length = 0
        self._shape = b""
        self._bare: dict[bytes, Folded | None] = {}
        self._same: dict[bytes, Folded | None] = {}
        self._alike: dict[bytes, _Alike] = {}

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
                alike = self._alike[rest.translate(_DIGITS)]
                row = alike.rows[_held(rest, alike.literals)]
            except KeyError:
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
        rest = record[stamp[0] :]
        if not alike:
            _put(self._same, rest, row)
            return
        masked = rest.translate(_DIGITS)
        entry = self._alike.get(masked)
        if entry is None:
            entry = _Alike(tuple(literal for literal, shape in self._with_digits if shape in masked), {})
            _put(self._alike, masked, entry)
        entry.rows[_held(rest, entry.literals)] = row

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


def _held(record: bytes, literals: Sequence[bytes]) -> tuple[bytes, ...]:
    return tuple(literal for literal in literals if literal in record) if literals else ()


def _put(known: dict[bytes, _Known], key: bytes, value: _Known) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value
