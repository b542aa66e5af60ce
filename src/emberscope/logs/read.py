"""Logs to rows of `log_events`: one pass over the bytes, in which only lines that may matter are looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from time import gmtime
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.logs.folding import MOST_TEXT, Folded, Folding
from emberscope.logs.head import Head, head_of
from emberscope.logs.matcher import Matcher, groups_of
from emberscope.logs.place import (
    SHARED_ROLES,
    Place,
    application_in,
    container_of_executor,
    executor_about,
    is_turning_point,
    role_of,
)
from emberscope.logs.repeats import Repeats
from emberscope.logs.trace import trace_of
from emberscope.logs.wrapping import unwrapped
from emberscope.redact import Redactor

_BLOCK: Final = 8 << 20
_MOST_OF_LINE: Final = 64 * 1024
"""Bytes of a line that are kept; a line may be as long as it likes."""
_MOST_LINES: Final = 400
"""Lines of one record; stack traces with their causes have some hundreds."""
_MOST_OF_RECORD: Final = 1 << 20
_BEGINNING: Final = 300
"""Lines that are looked at, whatever they say, for who wrote the log."""
_LOOSE_LINES: Final = 60
"""Lines that are taken together where none of them has a head."""
_BAD: Final = frozenset({"FATAL", "ERROR", "WARN"})
NOISE: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_STARTS: Final = re.compile(
    r"Exception in thread |Container: container_|Log ?Type: ?\w|Log Upload Time: |End of LogType|LogAggregationType:"
)
_TRACEBACK: Final = "Traceback (most recent call last)"
_FRAME: Final = re.compile(r"\s+at [\w.$]+\(")
_JAVA: Final = re.compile(r"\s+(?:at [\w.$/]+\(|\.\.\. \d+ (?:more|common frames))")
_GOES_ON: Final = re.compile(r"\s|Caused by: |Suppressed: |\.\.\. \d+ more|at [\w.$]+\(")


def first_role(text: str) -> str | None:
    """The kind of process that the first telling line of a log names."""
    for line in text.split("\n")[:_BEGINNING]:
        head = head_of(line)
        role = role_of(head.logger) if head is not None else None
        if role is not None:
            return role
    return None


class LogReader:
    """What several logs say, in `folding`; `lines` and `cut_bytes` of them were read and left out."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.folding = Folding()
        self.redactor = Redactor()
        self._repeats = Repeats(matcher.with_digits)
        self.lines = 0
        self.heads = 0
        self.year: int | None = None
        self.started_ms: int | None = None
        self.cut_bytes = 0
        self.first_ms: int | None = None
        self.last_ms: int | None = None
        self.containers: dict[str, tuple[str, str]] = {}

    def read(self, stream: BinaryIO, place: Place) -> None:
        """All of one log, as plain bytes."""
        self._repeats = Repeats(self.matcher.with_digits, place.ahead_ms)
        carry = b""
        line = 1
        while True:
            piece = stream.read(_BLOCK)
            data = carry + piece
            if not data:
                return
            if piece:
                end = data.rfind(b"\n") + 1
                if len(data) - end > max(2 * _BLOCK, _MOST_OF_LINE):
                    self.cut_bytes += len(data) - end - _MOST_OF_LINE
                    data = data[: end + _MOST_OF_LINE]
                if not end:
                    carry = data
                    continue
            else:
                end = len(data)
            block = _Block(data[:end], line, self.year)
            used, lines = self._block(block, place, last=not piece)
            carry = data[used:]
            line += lines
            self.lines += lines
            if not piece:
                return

    def _block(self, block: _Block, place: Place, *, last: bool) -> tuple[int, int]:
        """The records of a block, but for the last one where more may follow; bytes and lines that were used."""
        if block.first == 1:
            self._begin(block, place)
        if block.first == 1 or last:
            self._look_at_ends(block, place)
        limit = block.count if last else block.start_of_record(block.count - 1, 0)
        if limit == 0:
            if block.count < _MOST_LINES and block.offsets[-1] < _MOST_OF_RECORD:
                return 0, 0
            limit = block.count
        done = 0
        for index in block.matching(self.matcher.line_pattern):
            if index < done:
                continue
            if index >= limit:
                break
            again = block.known(index, limit, self._repeats)
            if again:
                done = again
                continue
            start = block.start_of_record(index, done)
            done = block.end_of_record(start)
            self._record(block, start, max(done, index + 1), place)
            done = max(done, index + 1)
        return block.begin(limit), limit

    def _begin(self, block: _Block, place: Place) -> None:
        """What the first lines tell of who wrote the log, and when."""
        sections = False
        before = (place.container_id, place.host, place.executor_id, place.role)
        for index in range(min(block.count, _BEGINNING)):
            text = block.text(index)
            head = block.head(index)
            place.learn(text)
            sections = sections or place.container_id != before[0]
            if head is None:
                continue
            self.heads += 1
            if head.time_ms is not None:
                self.year = block.year = self.year or gmtime(head.time_ms / 1000).tm_year
            place.role = place.role or role_of(head.logger)
        if sections:
            # Several containers' logs in one file: each heading tells whose lines follow.
            place.container_id, place.host, place.executor_id, place.role = before
        block.forget_heads()

    def _look_at_ends(self, block: _Block, place: Place) -> None:
        """When the log begins and ends, whatever the lines there say."""
        for index in {*range(min(block.count, 5)), *range(max(0, block.count - 5), block.count)}:
            head = block.head(index)
            if head is not None and head.time_ms is not None:
                self._seen_at(head.time_ms - place.ahead_ms)

    def _seen_at(self, time_ms: int | None) -> None:
        if time_ms is None:
            return
        self.first_ms = time_ms if self.first_ms is None else min(self.first_ms, time_ms)
        self.last_ms = time_ms if self.last_ms is None else max(self.last_ms, time_ms)

    def _record(self, block: _Block, start: int, end: int, place: Place) -> None:
        head = block.head(start)
        first = block.text(start)
        lines = [first[head.length :] if head is not None and head.message is None else first]
        lines += [block.text(index) for index in range(start + 1, end)]
        if head is not None and head.message is not None:
            lines = [*head.message.split("\n"), *(head.more.split("\n") if head.more else ()), *lines[1:]]
        writer = place.container_id
        place.learn(lines[0])
        if place.container_id != writer:
            self._repeats.forget()
        started = container_of_executor(lines[0])
        if started is not None:
            self.containers[started[0]] = started[1:]
        turning = is_turning_point(lines[0])
        if turning and lines[0].startswith("Running Spark") and head is not None and head.time_ms is not None:
            self.started_ms = min(self.started_ms or head.time_ms, head.time_ms - place.ahead_ms)
        row = self.add(lines, place, head, line=block.first + start, keep=turning)
        # The time before a line that was passed on is not that of its record.
        if place.container_id == writer and block.record(start, start + 1).startswith(first[:8].encode()):
            alike = not turning and (row is None or not row.values["signatures"] or self.folding.is_full(row))
            self._repeats.keep(block.record(start, end), row, alike=alike)

    def add(
        self, lines: Sequence[str], place: Place, head: Head | None, *, line: int | None, keep: bool = False
    ) -> Folded | None:
        """One record by its lines, the first without its head. It becomes a row, or is counted to one, where a
        signature matches it or its writer thought it bad; with `keep`, always."""
        while len(lines) > 1 and not lines[-1].strip():
            lines = lines[:-1]
        whole = "\n".join(lines)
        text = self.redactor.text(whole) or ""
        found = self.matcher.found(text)
        level = head.level if head is not None else None
        loose = level is None and (lines[0].startswith("Exception in thread") or "Traceback (most recent" in whole)
        if not found and level not in _BAD and not loose and not keep:
            return None
        time_ms = head.time_ms - place.ahead_ms if head is not None and head.time_ms is not None else None
        self._seen_at(time_ms)
        shown = text.split("\n")
        trace = trace_of(shown)
        fields = {}
        for name, match in found.items():
            above = text.count("\n", 0, match.start() + _leading(match[0]))
            fields[name] = groups_of(match, None if line is None else line + above, shown[above].strip())
        logger = head.logger if head is not None else None
        role = role_of(logger)
        if role in (None, "executor") and place.role is not None:
            role = place.role
        executor_id = place.executor_id or executor_about(text[:2000])
        values: dict[str, Any] = {
            "level": level,
            "logger": logger,
            "thread": head.thread if head is not None else None,
            "message": shown[0][:MOST_TEXT],
            "text": text[:MOST_TEXT],
            "exception": trace.exception,
            "causes": list(trace.causes),
            "frames": list(trace.frames),
            "file": place.file,
            "line": line,
            "role": role,
            "executor_id": executor_id,
            "container_id": (head.pod if head is not None else None) or place.container_id,
            "host": place.host,
            "app_id": application_in(text[:2000]) if place.role in SHARED_ROLES else place.app_id,
        }
        return self.folding.add(values, time_ms, fields, trace.causes)


class _Block:
    """Whole lines of a log, the first of which has number `first`."""

    def __init__(self, data: bytes, first: int, year: int | None) -> None:
        self._data = data
        self.year = year
        self.first = first
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + 1
        if not len(ends) or ends[-1] != len(data):
            ends = np.append(ends, len(data))
        self.offsets = np.concatenate((np.zeros(1, np.int64), ends.astype(np.int64)))
        self.count = len(ends)
        self._at = self.offsets.data
        self._heads: dict[int, Head | None] = {}

    def matching(self, pattern: str) -> list[int]:
        """The lines in which RE2 finds the pattern."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self._data)]
        lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), self.count, buffers)
        found: list[int] = pc.indices_nonzero(pc.match_substring_regex(lines, pattern)).to_pylist()
        return found

    def text(self, index: int) -> str:
        start, end = self._at[index], self._at[index + 1]
        text = self._data[start : min(end, start + _MOST_OF_LINE)].decode("utf-8", "replace").rstrip("\r\n")
        return unwrapped(NOISE.sub("", text) if not text.isprintable() else text)

    def head(self, index: int) -> Head | None:
        if index not in self._heads:
            self._heads[index] = head_of(self.text(index), self.year)
        return self._heads[index]

    def begin(self, index: int) -> int:
        return int(self._at[index])

    def record(self, start: int, end: int) -> bytes:
        return self._data[self._at[start] : self._at[end]].rstrip(b"\r\n")

    def known(self, index: int, limit: int, repeats: Repeats) -> int:
        """The line behind the record that begins in line `index`, where it was counted as one that came before; 0
        where it must be looked at."""
        offsets, data = self._at, self._data
        line = data[offsets[index] : offsets[index + 1]]
        if not repeats.begins(line):
            # A line that stands there again is a record of its own, whatever it is.
            same = index + 1 < limit and data[offsets[index + 1] : offsets[index + 2]] == line
            return index + 1 if same and repeats.again_without_time(line.rstrip(b"\r\n")) else 0
        end, most = index + 1, min(limit, index + _MOST_LINES)
        while end < most and not repeats.begins(data[offsets[end] : offsets[end + 1]]):
            end += 1
        return end if repeats.again(self.record(index, end)) else 0

    def forget_heads(self) -> None:
        """The year is known now."""
        self._heads.clear()

    def start_of_record(self, index: int, floor: int) -> int:
        """The first line of the record in which line `index` stands, not before `floor`."""
        lowest = max(floor, index - _MOST_LINES)
        for start in range(index, lowest - 1, -1):
            if self.head(start) is not None or _STARTS.match(self.text(start)):
                return start
            if self.text(start).startswith(_TRACEBACK) and self._stands_alone(start, lowest):
                return start
        # No head within reach: the lines around it, up to an empty one.
        start = index
        while start > max(floor, index - _LOOSE_LINES) and self._joins(start):
            start -= 1
        return start

    def end_of_record(self, start: int) -> int:
        """The line behind the record that begins in line `start`."""
        head = self.head(start)
        headed = head is not None
        calm = head is not None and head.level not in _BAD
        most = min(self.count, start + (_MOST_LINES if headed else 2 * _LOOSE_LINES))
        end = start + 1
        while end < most and self.head(end) is None and not _STARTS.match(self.text(end)):
            if not headed and not self._joins(end):
                break
            if self.text(end).startswith(_TRACEBACK) and (calm or _JAVA.match(self.text(end - 1))):
                break
            end += 1
        return end

    def _stands_alone(self, index: int, lowest: int) -> bool:
        """Whether a traceback in this line is no part of the record before it: that has a head and is no error, or it
        has shown its own trace, in Java, to the end."""
        if index > lowest and _JAVA.match(self.text(index - 1)):
            return True
        for above in range(index - 1, lowest - 1, -1):
            head = self.head(above)
            if head is not None:
                return head.level not in _BAD
        return False

    def _joins(self, index: int) -> bool:
        """Whether a line without a head belongs to the one above it, which has none either."""
        line, above = self.text(index), self.text(index - 1)
        # PySpark puts an empty line between Python's traceback and the JVM's frames.
        if not line.strip():
            # At the end of a block it is not known yet what comes.
            more = index + 1 == self.count or _FRAME.match(self.text(index + 1)) is not None
            return bool(above.strip()) and more
        if not above.strip():
            return _FRAME.match(line) is not None
        return bool(line.strip() and above.strip()) and (line != above or _GOES_ON.match(line) is not None)


def _leading(found: str) -> int:
    """Characters of what was found before its first line with something in it."""
    return len(found) - len(found.lstrip("\n"))
