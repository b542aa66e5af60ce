"""The operations of a record's program: what the kernel does with the next bytes of a record, field after field.

A program is a flat list of triples (operation, column, length). `column` numbers are chosen by whoever writes the
program, each used once; -1 skips the value. `length` is 0 but for `ARRAY`: the number of ints of the element's own
program, which follows. Fields that are structs are written inline and take no operation of their own.
"""

from __future__ import annotations

from typing import Final

LONG: Final = 0
"""Compressed, or 8 bytes big-endian where the chunk's integers are not; column format q. Keys of pools are such."""
INT: Final = 1
"""Compressed and cut to 32 bits, or 4 bytes; format i."""
SHORT: Final = 2
"""Compressed and cut to 16 bits, or 2 bytes; format h."""
CHAR: Final = 3
"""As SHORT without sign; format H."""
BYTE: Final = 4
"""One byte with sign; format b."""
BOOLEAN: Final = 5
"""One byte; format B, as it is in the file."""
FLOAT: Final = 6
"""4 bytes big-endian, compressed chunk or not; format f."""
DOUBLE: Final = 7
"""8 bytes big-endian; format d."""
STRING: Final = 8
"""One byte of encoding (0 null, 1 empty, 2 reference, 3 UTF-8, 4 UTF-16 units, 5 Latin-1) and what it says."""
ARRAY: Final = 9
"""A count as an INT, then so many elements. The column holds the counts."""

MAX_NESTING: Final = 8
"""Arrays within arrays."""
MAX_OPS: Final = 4000
"""Operations of one program: the JDK's own types need some 60; damaged metadata could ask for millions."""

TRUNCATED: Final = "[truncated]"
"""The frame under which stand stacks whose root side the recorder cut."""
