"""Arrays of elements without strings and arrays, such as the frames of a stack trace.

Most bytes of a recording are in such arrays, and most of their elements nobody asks for. Their end is found by a
regular expression, several times as quick as by reading them; the elements are read when they are asked for. Every
content is good within its bounds, so that an array whose end was found is also one that can be read.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from emberscope.kernel.ops import ARRAY, BOOLEAN, BYTE, CHAR, DOUBLE, FLOAT, INT, LONG, SHORT
from emberscope.kernel.plain.encoding import Damaged
from emberscope.kernel.plain.program import Step

Skip: TypeAlias = Callable[[bytes, int, int, int], int]
"""(chunk, position, end, count of elements) to the position after them; raises `Damaged` if that is beyond `end`."""

_MAX_STEPS: Final = 16
_BLOCK: Final = 16
_VARINT: Final = rb"(?:[\x80-\xff]{0,7}+[\x00-\x7f]|.{9})"
_FIXED: Final = {LONG: 8, INT: 4, SHORT: 2, CHAR: 2, BYTE: 1, BOOLEAN: 1, FLOAT: 4, DOUBLE: 8}
_COMPRESSED: Final = (LONG, INT, SHORT, CHAR)


def is_flat(step: Step) -> bool:
    """Whether this is an array whose elements can be told apart by a pattern."""
    element = step.element
    return step.operation == ARRAY and 0 < len(element) <= _MAX_STEPS and all(s.operation in _FIXED for s in element)


@functools.lru_cache(maxsize=256)
def element_pattern(element: tuple[Step, ...], compressed: bool) -> re.Pattern[bytes]:
    """Matches one element of a flat array."""
    return re.compile(_pattern(element, compressed), re.DOTALL)


@functools.lru_cache(maxsize=256)
def skip(element: tuple[Step, ...], compressed: bool) -> Skip:
    pattern = _pattern(element, compressed)
    matches: dict[int, Callable[[bytes, int, int], re.Match[bytes] | None]] = {}

    def after(b: bytes, p: int, end: int, count: int) -> int:
        while count > 0:
            block = min(count, _BLOCK)
            match = matches.get(block)
            if match is None:
                match = matches[block] = re.compile(b"(?:%b){%d}+" % (pattern, block), re.DOTALL).match
            found = match(b, p, end)
            if found is None:
                raise Damaged("an array is longer than its record")
            p = found.end()
            count -= block
        return p

    return after


def _pattern(element: tuple[Step, ...], compressed: bool) -> bytes:
    return b"".join(
        _VARINT if compressed and step.operation in _COMPRESSED else b".{%d}" % _FIXED[step.operation]
        for step in element
    )
