"""The lines of a text profile, whatever it is packed in and however its characters are encoded."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Final

_ENCODINGS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def lines_of(plain: bytes) -> Iterator[tuple[str, bool]]:
    """Each line without its end, and whether it has one; only the last may lack it.

    UTF-8, or UTF-16 where a byte order mark says so. Bytes that are no characters become U+FFFD.
    """
    for mark, encoding in _ENCODINGS:
        if plain.startswith(mark):
            plain = plain[len(mark) :]
            if encoding != "utf-8":
                plain = plain.decode(encoding, "replace").encode()
            break
    for line in io.BytesIO(plain):
        yield line.decode("utf-8", "replace").rstrip("\r\n"), line.endswith(b"\n")


def whole_lines(head: bytes) -> list[str]:
    """The lines of the first bytes of a file, without a last one that they may have cut if there are others.

    Empty where the bytes are no text.
    """
    found = list(lines_of(head))
    if any("\0" in line for line, _ in found):
        return []
    if len(found) > 1 and not found[-1][1]:
        found.pop()
    return [line for line, _ in found]
