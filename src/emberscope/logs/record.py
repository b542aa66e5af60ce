"""What a reader of one kind of file makes of it: records as a log would have them, to be searched by signatures."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

MOST_TEXT: Final = 8_000


class Record(Struct, frozen=True):
    """One record: its lines, the first of which is its message; `line` is where in the file it began, from 1.

    `time_ms` is epoch ms, None where the file has no clock. `frames` are those of a stack, innermost first.
    """

    lines: tuple[str, ...]
    line: int
    time_ms: int | None = None
    level: str | None = None
    frames: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All lines, cut after as much as table `log_events` holds."""
        return "\n".join(self.lines)[:MOST_TEXT]
