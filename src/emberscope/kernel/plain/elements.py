"""The tree of elements that describes the types of a chunk."""

from __future__ import annotations

from typing import Final

from emberscope.kernel.plain.encoding import BROKEN, Damaged, counted, read_int, string

_MAX_DEPTH: Final = 16


def elements(body: bytes | memoryview, compressed: bool) -> list[tuple[int, str, tuple[str, ...]]]:
    b = bytes(body)
    try:
        strings, p = _strings(b, compressed)
        return _tree(b, p, compressed, strings)
    except BROKEN as error:
        raise ValueError(f"metadata cannot be read: {error}") from error


def _strings(b: bytes, compressed: bool) -> tuple[list[str], int]:
    count, p = read_int(b, 0, compressed)
    strings = []
    for _ in range(counted(count, p, len(b))):
        text, p = string(b, p, len(b), compressed)
        strings.append(text if isinstance(text, str) else "")
    return strings, p


def _tree(b: bytes, p: int, compressed: bool, strings: list[str]) -> list[tuple[int, str, tuple[str, ...]]]:
    """All elements from `p` on, those within one after it."""
    end = len(b)
    limit = len(strings)
    found = []
    left = [1]  # how many elements are still to come, by depth
    while left:
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        depth = len(left) - 1
        if depth > _MAX_DEPTH:
            raise Damaged("nested too deep")
        name, p = read_int(b, p, compressed)
        count, p = read_int(b, p, compressed)
        if not 0 <= name < limit:
            raise Damaged(f"no string {name}")
        texts = []
        for _ in range(2 * counted(count, p, end)):
            text, p = read_int(b, p, compressed)
            if not 0 <= text < limit:
                raise Damaged(f"no string {text}")
            texts.append(strings[text])
        found.append((depth, strings[name], tuple(texts)))
        count, p = read_int(b, p, compressed)
        left.append(counted(count, p, end))
    return found
