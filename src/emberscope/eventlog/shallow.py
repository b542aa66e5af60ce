"""JSON that is nested more deeply than a decoder goes, cut to a depth where it does: plans of hundreds of operators."""

from __future__ import annotations

import re
from typing import Final

DEPTH: Final = 400
"""Objects and arrays around one another that stay. An operator of a plan takes two; decoders go to about 1,000."""

DEEPER_NODE: Final = "[deeper operators]"
"""Name of the operator that stands for those of a plan that were cut off."""

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)
_OBJECT: Final = b'{"nodeName":"' + DEEPER_NODE.encode() + b'","children":[],"metrics":[]}'
_ARRAY: Final = b"[]"


def shallow(line: bytes) -> bytes:
    """The line with an operator named `DEEPER_NODE` for each object that lies below `DEPTH`.

    Arrays stay one deeper, to hold it; below, they become empty. What is no JSON comes out as no JSON.
    """
    pieces = []
    depth = kept = 0
    cut_from = 0
    for token in _TOKEN.finditer(line):
        sign = token[0]
        if sign in (b"{", b"["):
            depth += 1
            if not cut_from and depth > DEPTH + (sign == b"["):
                cut_from = depth
                pieces += [line[kept : token.start()], _OBJECT if sign == b"{" else _ARRAY]
        elif sign in (b"}", b"]"):
            if depth == cut_from:
                cut_from = 0
                kept = token.end()
            depth -= 1
    if depth:
        return b""
    return b"".join([*pieces, line[kept:]])
