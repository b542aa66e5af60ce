"""An event log that is still being written: what is new is read, and nothing is read again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from emberscope.errors import InputError
from emberscope.eventlog.build import Builder
from emberscope.eventlog.codecs import PLAIN, growing
from emberscope.eventlog.lines import LINE_BYTES, Block
from emberscope.eventlog.parts import Part, parts_of
from emberscope.eventlog.read import run_of
from emberscope.eventlog.rolled import ROLLED, loose_files
from emberscope.tables.coverage import Note
from emberscope.tables.run import Run
from emberscope.units import counted

_READ_BYTES: Final = 1 << 20
_TOLD_BYTES: Final = 16
_UNFINISHED: Final = ".inprogress"


@dataclass(frozen=True, slots=True)
class Position:
    """Up to where a log was read: `offset` bytes of its file `path`, at the end of a whole line, or of a zstd frame or
    a block that ends with one."""

    path: str
    offset: int


def _told(part: Part) -> bool:
    """Whether there is enough of a file that its codec can be told."""
    return os.path.getsize(part.path) >= _TOLD_BYTES


class _Tail:
    """One file that grows: the whole lines that were added since the last look."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self._frames = growing(part.codec)
        if self._frames is None and part.codec != PLAIN:
            reason = f"is compressed with {part.codec}, in which Spark writes no log, and cannot be followed."
            raise InputError(part.path, reason, hint="Read it without --follow, as often as you like.")
        self._file = open(part.path, "rb", buffering=0)  # noqa: SIM115 - it stays open while the log grows
        self._read = 0
        self._held = b""
        self._long_bytes = 0

    @property
    def offset(self) -> int:
        return self._frames.whole if self._frames else self._read - len(self._held)

    def is_at(self, path: str) -> bool:
        """Whether `path` still is this file, and holds all that was read."""
        try:
            there = os.stat(path)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self._file.fileno())) and there.st_size >= self._read

    def blocks(self) -> Iterator[Block]:
        while data := self._file.read(_READ_BYTES):
            self._read += len(data)
            for text in self._frames.feed(data) if self._frames else (data,):
                yield from self._whole_lines(text)

    def rest(self) -> Iterator[Block]:
        """What is left when the file is known to grow no more: a last line without an end."""
        yield from self.blocks()
        for text in self._frames.close() if self._frames else ():
            yield from self._whole_lines(text)
        if self._long_bytes:
            yield Block(b"", self._long_bytes)
        elif self._held:
            yield Block(self._held)
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def damage(self) -> str | None:
        return f"{self.part.codec} data are corrupt" if self._frames and self._frames.corrupt else None

    def _whole_lines(self, text: bytes) -> Iterator[Block]:
        if self._long_bytes:
            end = text.find(b"\n") + 1
            self._long_bytes += end or len(text)
            if not end:
                return
            yield Block(b"", self._long_bytes)
            self._long_bytes, text = 0, text[end:]
        end = text.rfind(b"\n") + 1
        if end:
            yield Block(self._held + text[:end])
            self._held, text = b"", text[end:]
        self._held += text
        if len(self._held) > LINE_BYTES:
            self._long_bytes, self._held = len(self._held), b""


class Follower:
    """Reads a log on and on: `poll` takes in what is new, `run` gives what there is by then.

    `path` is a file, also one that ends in `.inprogress` and is renamed at its end, or Spark's rolled directory.
    `ended` says that nothing more will come: the application's end was seen and a look brought nothing more, or Spark
    closed the log. A file that was replaced, or became shorter, is read anew and said so in `said` and the coverage.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.ended = False
        self.said: list[str] = []
        self._tail: _Tail | None = None
        self._start()

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        if self._tail is not None:
            self._tail.close()

    def _start(self) -> None:
        self._builder = Builder(facts_only=True)
        self._parts: list[Part] = []
        self._notes: list[Note] = []
        self._malformed = 0

    @property
    def position(self) -> Position:
        """Where another reader could go on."""
        return Position(self._tail.part.path, self._tail.offset) if self._tail else Position(self.path, 0)

    def poll(self) -> bool:
        """Takes in what was written since the last call; True where that was anything. Raises `InputError`."""
        lines = self._builder.lines
        if self.ended or (self._tail is None and not self._first()):
            return False
        try:
            changed = self._go_on()
        except OSError as error:
            raise InputError(self.position.path, f"cannot be read: {error.strerror}.") from error
        return changed or self._builder.lines > lines

    def run(self) -> Run | None:
        """The facts as of the last poll, without table `tasks`; None while there is no event."""
        if not +self._builder.event_counts:
            return None
        notes = list(self._notes)
        if self._malformed:
            message = (
                f"{counted(self._malformed, 'line')} in it {'is' if self._malformed == 1 else 'are'} no Spark event."
            )
            notes.append(Note("malformed_line", message, self.path, {"lines": self._malformed}))
        if self._tail is not None and self._tail.damage:
            notes.append(Note("cut", f"Some of the log is missing: {self._tail.damage}.", self._tail.part.path))
        if self._builder.long_lines:
            message = f"{counted(len(self._builder.long_lines), 'line')} of enormous length were left out."
            notes.append(Note("limited", message, self.path, {"lines": len(self._builder.long_lines)}))
        return run_of(self.path, self._parts, self._builder, notes)

    def _first(self) -> bool:
        """Opens the first part; False where there is nothing to tell by yet."""
        try:
            parts, notes = parts_of(self.path)
        except InputError:
            if self._unfinished():
                return False
            raise
        if self._unfinished():
            parts = [part for part in parts if _told(part)]
            if not parts:
                return False
        self._notes += notes
        for part in parts[:-1]:
            self._open(part)
            self._finish()
        self._open(parts[-1])
        return True

    def _unfinished(self) -> bool:
        """Whether Spark is still to write, by the name of the file or of the directory's status file."""
        if os.path.isdir(self.path) and not [name for name in os.listdir(self.path) if not name.startswith(".")]:
            # Spark makes the directory before anything that is in it.
            return os.path.basename(os.path.normpath(self.path)).startswith("eventlog_v2_")
        if (statuses := self._statuses()) is not None:
            return any(name.endswith(_UNFINISHED) for name in statuses)
        return self.path.endswith(_UNFINISHED) and os.path.exists(self.path)

    def _open(self, part: Part) -> None:
        self._tail = _Tail(part)
        self._parts.append(part)

    def _take(self, blocks: Iterator[Block]) -> None:
        for block in blocks:
            self._malformed += len(self._builder.add(block, self._builder.scan(block)))

    def _finish(self) -> None:
        """Reads the part to its end and leaves it."""
        assert self._tail is not None
        before = self._malformed
        cut = False
        for block in self._tail.rest():
            bad = self._builder.add(block, self._builder.scan(block))
            cut = block.open_end and bool(bad)
            self._malformed += len(bad)
        if cut:
            self._malformed = max(before, self._malformed - 1)
            self._notes.append(Note("cut", "The last line is cut.", self._tail.part.path, {"lines": 1}))
        if self._tail.damage:
            self._notes.append(Note("cut", f"Some of the log is missing: {self._tail.damage}.", self._tail.part.path))

    def _go_on(self) -> bool:
        assert self._tail is not None
        closed = self._closed()  # asked before the last look, so that nothing can come between
        following = self._following()
        path = self._tail.part.path
        if not self._tail.is_at(path):
            if self._renamed():
                closed = True
            elif not following or os.path.exists(path):  # else it was compacted into another, and is still open here
                return self._again()
        if following:
            self._finish()
            for part in following[:-1]:
                self._open(part)
                self._finish()
            self._open(following[-1])
        lines = self._builder.lines
        self._take(self._tail.blocks())
        # Some events come after that of the end: a look that brings nothing more is the last.
        if closed or (self._builder.complete and self._builder.lines == lines and not following):
            self._finish()
            self.ended = True
        return bool(following) or self.ended

    def _closed(self) -> bool:
        if (statuses := self._statuses()) is not None:
            return any(not name.endswith(_UNFINISHED) for name in statuses)
        return self._renamed()

    def _statuses(self) -> list[str] | None:
        """The names of the status files of a rolling log; None of any other log."""
        folder, prefix = self.path, "appstatus_"
        if not os.path.isdir(folder):
            if not loose_files(folder):
                return None
            folder, name = os.path.split(folder)
            prefix += name.removeprefix("events_*_")
        names = (name for name in os.listdir(folder or ".") if name.startswith(prefix))
        return [name for name in names if folder == self.path or name.removesuffix(_UNFINISHED) == prefix]

    def _renamed(self) -> bool:
        """Whether Spark gave the file its final name, as it does when it is whole."""
        path, _, unfinished = self.path.rpartition(_UNFINISHED)
        return self._tail is not None and not unfinished and bool(path) and self._tail.is_at(path)

    def _following(self) -> list[Part]:
        """The parts behind the one that is read."""
        assert self._tail is not None
        here = ROLLED.match(os.path.basename(self._tail.part.path))
        if here is None or self._statuses() is None:
            return []
        parts, notes = parts_of(self.path)
        later = [
            part
            for part in parts
            if (found := ROLLED.match(os.path.basename(part.path))) and int(found[1]) > int(here[1]) and _told(part)
        ]
        if later:
            self._notes += [note for note in notes if note not in self._notes]
        return later

    def _again(self) -> bool:
        """Begins anew, as what was read is no longer there."""
        assert self._tail is not None
        path = self._tail.part.path
        if not os.path.exists(path):
            raise InputError(path, "was removed while it was followed.")
        self.said.append(f"{path} was replaced or became shorter, and is read anew.")
        self._tail.close()
        self._tail = None
        self._start()
        self._notes.append(Note("limited", "The log was replaced, or became shorter, while it was followed.", path))
        if self._first():
            self._go_on()
        return True
