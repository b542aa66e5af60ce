"""Reads a profile of pprof: as much of protocol buffers as it needs."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from typing import Any


def varints(body: bytes) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in body:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    assert shift == 0
    return values


def fields(body: bytes) -> dict[int, list[Any]]:
    """The fields of a message: numbers as integers, all else as bytes."""
    found: dict[int, list[Any]] = defaultdict(list)
    at = 0

    def number() -> int:
        nonlocal at
        begin = at
        while body[at] > 127:
            at += 1
        at += 1
        return varints(body[begin:at])[0]

    while at < len(body):
        key = number()
        if key & 7 == 0:
            found[key >> 3].append(number())
        else:
            assert key & 7 == 2
            length = number()
            found[key >> 3].append(body[at : at + length])
            at += length
    return found


def read_pprof(data: bytes) -> tuple[list[tuple[str, str]], Counter[tuple[str, ...]]]:
    """Types of samples with their units, and the first value of each stack as names, root first."""
    profile = fields(gzip.decompress(data))
    strings = [text.decode() for text in profile[6]]
    assert strings[0] == ""
    types = [fields(body) for body in profile[1]]
    functions = {f[1][0]: strings[f[2][0]] for f in map(fields, profile[5])}
    locations = {loc[1][0]: functions[fields(loc[4][0])[1][0]] for loc in map(fields, profile[4])}
    stacks: Counter[tuple[str, ...]] = Counter()
    for body in profile[2]:
        sample = fields(body)
        names = [locations[number] for number in varints(sample[1][0])]
        stacks[tuple(reversed(names))] += varints(sample[2][0])[0]
    return [(strings[t[1][0]], strings[t[2][0]]) for t in types], stacks
