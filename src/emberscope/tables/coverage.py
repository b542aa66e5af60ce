"""What a reading saw and did not see. Every result about data carries one; nothing is dropped silently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

CODES: Final = (
    "cut",
    "malformed_line",
    "missing_part",
    "duplicate_part",
    "dropped_events",
    "unsupported_version",
    "unresolved",
    "truncated_stacks",
    "sampled",
    "executor_lost",
    "chunk_unfinished",
    "clock_skew",
    "not_recorded",
    "redacted",
    "limited",
)

# Facts about how the data were made: nothing of what was recorded is lost by them.
_NO_LOSS: Final = frozenset({"sampled", "redacted", "limited", "duplicate_part", "clock_skew"})


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was cut, dropped, sampled or not understood.

    `code` is one of `CODES`; `where` a path, member, executor or stage; `lost` counts under the names `lines`,
    `samples`, `seconds`, `bytes`, `events`, `chunks`.
    """

    code: str
    message: str
    where: str = ""
    lost: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is not a coverage code")

    def document(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "where": self.where, "lost": dict(self.lost)}


@dataclass(frozen=True, slots=True)
class Coverage:
    """All notes of one reading. Coverages add."""

    notes: tuple[Note, ...] = ()

    @property
    def complete(self) -> bool:
        """True where nothing is known to be lost."""
        return all(note.code in _NO_LOSS and not note.lost for note in self.notes)

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(self.notes + tuple(n for n in other.notes if n not in self.notes))

    def document(self) -> dict[str, Any]:
        """The `coverage` object of every JSON result."""
        return {"complete": self.complete, "notes": [note.document() for note in self.notes]}


def total(coverages: Iterable[Coverage]) -> Coverage:
    """The sum of many coverages."""
    notes: dict[tuple[object, ...], Note] = {}
    for coverage in coverages:
        for note in coverage.notes:
            notes.setdefault((note.code, note.message, note.where, tuple(sorted(note.lost.items()))), note)
    return Coverage(tuple(notes.values()))
