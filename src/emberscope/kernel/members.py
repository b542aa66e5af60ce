"""What `Lines` does with a member of a JSON object.

A program for lines is a list of kinds, and a kind is (prefix, row, nodes): lines that begin with `prefix` (which ends
within the line's object, before a comma) become rows of int64 that begin as copies of `row` (bytes). Node 0 is that
object, and each node is a list of members: (key with quotes and colon, action, column, node or 0, text with quotes or
empty, whether it must be there). With column -1 a member is only checked. Column 0 is the number of the line.
"""

from __future__ import annotations

from typing import Final

LONG: Final = 0
"""An integer of at most 18 digits, to its column."""
INT: Final = 1
"""The same, where it fits 32 bits."""
FLAG: Final = 2
"""true or false, as 1 or 0."""
TEXT: Final = 3
"""A string of ASCII without escapes, as its number in the texts of the result."""
OBJECT: Final = 4
"""An object with members of its own, those of a node; its column, if any, gets 1."""
ZERO: Final = 5
"""The integer 0."""
IS: Final = 6
"""A string that must be the text named."""
ABSENT: Final = 7
"""Must not be there."""

MOST_MEMBERS: Final = 63
MOST_NODES: Final = 32
MOST_TEXTS: Final = 4096
