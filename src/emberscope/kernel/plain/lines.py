"""Lines of JSON to rows of integers, by the reader of JSON in the standard library.

Slow, and only the measure for the one in C: where that is missing, readers have quicker ways of their own.
"""

from __future__ import annotations

import array
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from emberscope.kernel import members as m

Member = tuple[bytes, int, int, int, bytes, bool]
Kind = tuple[bytes, bytes, Sequence[Sequence[Member]]]

_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER: Final = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*"')
_KEY: Final = re.compile(rb'"[^"\\\x00-\x1f]*":')
_TEXT: Final = re.compile(rb'"([^"\\\x00-\x1f\x80-\xff]*)"')
_DEPTH: Final = 32
_DIGITS: Final = 40
_KEY_BYTES: Final = 0xFFFF


class _LeftError(Exception):
    """This line is for the caller."""


class Lines:
    def __init__(self, kinds: Sequence[Kind]) -> None:
        self._kinds = [(prefix, array.array("q", row), nodes) for prefix, row, nodes in kinds]

    def scan(self, text: bytes) -> tuple[int, list[memoryview], list[str], memoryview]:
        found = _Scan()
        rows = [array.array("q") for _ in self._kinds]
        others = array.array("q")
        count = start = 0
        while start < len(text):
            end = text.find(b"\n", start) + 1 or len(text)
            count += 1
            line = text[start:end].removesuffix(b"\n")
            for kind, (prefix, row, nodes) in enumerate(self._kinds):
                if line.startswith(prefix):
                    try:
                        values = found.line(line, len(prefix), row[:], nodes)
                        values[0] = count
                        rows[kind].extend(values)
                        break
                    except _LeftError:
                        pass
                    others.extend((count, start, end))
                    break
            else:
                others.extend((count, start, end))
            start = end
        return count, [memoryview(values) for values in rows], list(found.texts), memoryview(others)


class _Scan:
    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def line(self, line: bytes, at: int, row: array.array[int], nodes: Any) -> array.array[int]:
        # A byte that belongs to no value saves asking for the end.
        line += b"\0"
        if line[at] != 0x2C:
            raise _LeftError
        end = self._members(line, at + 1, row, nodes, 0)
        if end != len(line) - 1:
            raise _LeftError
        return row

    def _members(self, line: bytes, at: int, row: array.array[int], nodes: Any, number: int) -> int:
        wanted = {member[0]: member for member in nodes[number]}
        seen = set()
        while True:
            found = _KEY.match(line, at)
            if found is None or len(found[0]) - 2 > _KEY_BYTES:
                raise _LeftError
            key = found[0]
            at = found.end()
            if (member := wanted.get(key)) is None:
                at = _skip(line, at, _DEPTH)
            elif key in seen:
                raise _LeftError
            else:
                seen.add(key)
                at = self._member(line, at, row, nodes, member)
            if line[at] == 0x7D:
                break
            if line[at] != 0x2C:
                raise _LeftError
            at += 1
        if any(required and key not in seen for key, *_, required in nodes[number]):
            raise _LeftError
        return at + 1

    def _member(self, line: bytes, at: int, row: array.array[int], nodes: Any, member: Member) -> int:
        _, action, column, node, text, _ = member
        if action == m.IS:
            if not line.startswith(text, at):
                raise _LeftError
            return at + len(text)
        if action == m.OBJECT:
            end = self._object(line, at, row, nodes, node)
            value = 1
        elif action == m.TEXT:
            found = _TEXT.match(line, at)
            if found is None or len(found[1]) > _KEY_BYTES:
                raise _LeftError
            end = found.end()
            string = found[1].decode("ascii")
            if string not in self.texts and len(self.texts) == m.MOST_TEXTS:
                raise _LeftError
            value = self.texts.setdefault(string, len(self.texts))
        elif action in (m.LONG, m.INT, m.ZERO, m.FLAG):
            end = _skip(line, at, 0)
            value = _integer(line[at:end].decode("latin-1"), action)
        else:
            raise _LeftError
        if column >= 0:
            row[column] = value
        return end

    def _object(self, line: bytes, at: int, row: array.array[int], nodes: Any, node: int) -> int:
        if line[at] != 0x7B:
            raise _LeftError
        if line[at + 1] != 0x7D:
            return self._members(line, at + 1, row, nodes, node)
        if any(required for *_, required in nodes[node]):
            raise _LeftError
        return at + 2


def _integer(text: str, action: int) -> int:
    if action == m.FLAG:
        if text not in ("true", "false"):
            raise _LeftError
        return int(json.loads(text))
    if (
        _INTEGER.fullmatch(text) is None
        or (action == m.ZERO and text != "0")
        or (action == m.INT and not -(2**31) <= int(text) < 2**31)
    ):
        raise _LeftError
    return int(text)


def _skip(line: bytes, at: int, depth: int) -> int:
    """Past the value at `at`."""
    first = line[at : at + 1]
    if first == b'"':
        found = _STRING.match(line, at)
        if found is None:
            raise _LeftError
        return found.end()
    if first in (b"{", b"["):
        return _skip_nested(line, at, depth)
    for word in (b"true", b"false", b"null"):
        if line.startswith(word, at):
            return at + len(word)
    found = _NUMBER.match(line, at)
    if found is None or len(found[0]) > _DIGITS or line[found.end() : found.end() + 1] in b"0123456789eE":
        raise _LeftError
    return found.end()


def _skip_nested(line: bytes, at: int, depth: int) -> int:
    if not depth:
        raise _LeftError
    is_object = line[at] == 0x7B
    closing = 0x7D if is_object else 0x5D
    at += 1
    if line[at] == closing:
        return at + 1
    while True:
        if is_object:
            found = _STRING.match(line, at)
            if found is None or line[found.end()] != 0x3A:
                raise _LeftError
            at = found.end() + 1
        at = _skip(line, at, depth - 1)
        if line[at] == closing:
            return at + 1
        if line[at] != 0x2C:
            raise _LeftError
        at += 1
