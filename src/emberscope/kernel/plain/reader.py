"""Readers of records, written as Python source for each program and compiled.

There are hundreds of thousands of records in a chunk: a loop over the operations costs several times what straight
code for them costs. The generated source holds numbers and fixed words only, nothing from the file.

A reader takes an iterator and a tuple of functions that append to the columns, in the order of the program; a flat
array outside of others takes three, for count, start and stop. What is left in the iterator tells which record broke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from emberscope.kernel.ops import ARRAY, BOOLEAN, BYTE, CHAR, DOUBLE, FLOAT, INT, LONG, SHORT, STRING
from emberscope.kernel.plain import encoding
from emberscope.kernel.plain.flat import Skip, is_flat, skip
from emberscope.kernel.plain.program import Step

Adds: TypeAlias = tuple[Callable[[Any], object], ...]
ReadEvents: TypeAlias = Callable[[bytes, Iterator[int], Adds, Callable[[], None]], None]
"""(chunk, positions of events, appenders, what to call after a broken one)."""
ReadPool: TypeAlias = Callable[[bytes, int, int, Iterator[int], Adds], int]
"""(chunk, position, end, something as often as there are records, appenders) to the position after the last record.

Raises one of `encoding.BROKEN` at a record that is broken."""

_WIDTHS: Final = {LONG: "long", INT: "int", SHORT: "short", CHAR: "char"}
_VARINTS: Final = {LONG: "varint", INT: "int_varint", SHORT: "short_varint", CHAR: "char_varint"}
_BYTES: Final = {LONG: 8, INT: 4, SHORT: 2, CHAR: 2, BYTE: 1, BOOLEAN: 1, FLOAT: 4, DOUBLE: 8}
_CALLED: Final = (
    "BROKEN",
    "Damaged",
    "after_string",
    "after_varint",
    "char_varint",
    "int_varint",
    "raw_char",
    "raw_int",
    "raw_long",
    "raw_short",
    "short_varint",
    "string",
    "varint",
)
_READERS: Final[dict[Any, tuple[Any, int]]] = {}
_MAX_LINES: Final = 100_000
"""All types of a JDK need some 10,000; damaged metadata could ask for millions, at half a kilobyte each."""
_TOO_LONG: Final = "if p > end: raise Damaged('a record is longer than its size')"


def stores(step: Step) -> bool:
    """Whether anything is kept of the step: its own values, or of an array the counts for the sake of its elements.

    The counts are kept even where they are not asked for, as long as something of the elements is: they tell how many
    values belong to a record.
    """
    return step.column >= 0 or any(stores(inner) for inner in step.element)


def events_reader(program: tuple[Step, ...], compressed: bool) -> ReadEvents:
    reader: ReadEvents = _reader(_events_source, program, compressed)
    return reader


def pool_reader(program: tuple[Step, ...], compressed: bool) -> ReadPool:
    reader: ReadPool = _reader(_pool_source, program, compressed)
    return reader


def _reader(write: Callable[[_Source, tuple[Step, ...]], str], program: tuple[Step, ...], compressed: bool) -> Any:
    """The compiled reader. Kept for the next chunk, as long as all that are kept are not too many lines."""
    key = (write, program, compressed)
    found = _READERS.get(key)
    if found is None:
        source = _Source(compressed)
        head = write(source, program)
        found = (source.compile(head), len(source.lines))
        if sum(lines for _, lines in list(_READERS.values())) > _MAX_LINES:
            _READERS.clear()
        _READERS[key] = found
    return found[0]


def _events_source(source: _Source, program: tuple[Step, ...]) -> str:
    source.add(" ", "for p in positions:")
    source.add("  ", "end = p")
    source.add("  ", "try:")
    source.integer("   ", INT, "x")
    source.add("   ", "end += x")
    source.skip_integer("   ", LONG)
    source.steps("   ", program, 0)
    source.add("   ", _TOO_LONG)
    source.add("  ", "except BROKEN: take_back()")
    return "def read(b, positions, adds, take_back):"


def _pool_source(source: _Source, program: tuple[Step, ...]) -> str:
    source.add(" ", "for _ in records:")
    source.steps("  ", program, 0)
    source.add("  ", _TOO_LONG)
    source.add(" ", "return p")
    return "def read(b, p, end, records, adds):"


class _Source:
    """The lines of one reader while they are written."""

    def __init__(self, compressed: bool) -> None:
        self._compressed = compressed
        self.lines: list[str] = []
        self._next = 0
        self._skips: list[Skip] = []

    def add(self, indent: str, line: str) -> None:
        self.lines.append(indent + line)

    def compile(self, head: str) -> Any:
        scope: dict[str, Any] = {name: getattr(encoding, name) for name in _CALLED}
        scope |= {f"skip{i}": skip for i, skip in enumerate(self._skips)}
        names = "".join(f"a{i}, " for i in range(self._next))
        lines = [head, f" {names}= adds" if names else "", *self.lines]
        exec(compile("\n".join(lines), "<kernel program>", "exec"), scope)
        return scope["read"]

    def steps(self, indent: str, program: tuple[Step, ...], depth: int) -> None:
        for step in program:
            if step.operation == ARRAY:
                self._array(indent, step, depth)
            else:
                self._one(indent, step)

    def _appender(self) -> str:
        name = f"a{self._next}"
        self._next += 1
        return name

    def _array(self, indent: str, step: Step, depth: int) -> None:
        count = f"n{depth}"
        self.integer(indent, INT, count)
        self.add(indent, f"if not 0 <= {count} <= end - p: raise Damaged('impossible array length')")
        if stores(step):
            self.add(indent, f"{self._appender()}({count})")
        inner = any(stores(s) for s in step.element)
        if is_flat(step) and (depth == 0 or not inner):
            if inner:
                self.add(indent, f"{self._appender()}(p)")
            self.add(indent, f"p = skip{len(self._skips)}(b, p, end, {count})")
            if inner:
                self.add(indent, f"{self._appender()}(p)")
            self._skips.append(skip(step.element, self._compressed))
        elif step.element:
            self.add(indent, f"for _{depth} in range({count}):")
            self.steps(indent + " ", step.element, depth + 1)

    def _one(self, indent: str, step: Step) -> None:
        operation = step.operation
        if step.column < 0:
            if operation == STRING:
                self.add(indent, f"p = after_string(b, p, end, {self._compressed})")
            elif operation in _WIDTHS:
                self.skip_integer(indent, operation)
            else:
                self.add(indent, f"p += {_BYTES[operation]}")
            return
        add = self._appender()
        if operation == STRING:
            self.add(indent, f"x, p = string(b, p, end, {self._compressed})")
            self.add(indent, f"{add}(x)")
        elif operation in _WIDTHS:
            self.integer(indent, operation, "x")
            self.add(indent, f"{add}(x)")
        elif operation == BOOLEAN:
            self.add(indent, f"{add}(b[p]); p += 1")
        elif operation == BYTE:
            self.add(indent, f"{add}((b[p] ^ 128) - 128); p += 1")
        else:  # the bytes as they are, so that each bit of a NaN is kept; they are put into order once for all
            size = _BYTES[operation]
            self.add(indent, f"{add}(b[p : p + {size}]); p += {size}")

    def integer(self, indent: str, operation: int, name: str) -> None:
        """Read an integer into a variable; up to three bytes, which nearly all have, without a call."""
        if not self._compressed:
            self.add(indent, f"{name}, p = raw_{_WIDTHS[operation]}(b, p)")
            return
        self.add(indent, f"{name} = b[p]")
        self.add(indent, f"if {name} < 128: p += 1")
        self.add(indent, f"elif b[p + 1] < 128: {name} += (b[p + 1] << 7) - 128; p += 2")
        if operation in (LONG, INT):
            three = f"{name} += (b[p + 1] << 7) + (b[p + 2] << 14) - 16512"
            self.add(indent, f"elif b[p + 2] < 128: {three}; p += 3")
        self.add(indent, f"else: {name}, p = {_VARINTS[operation]}(b, p)")

    def skip_integer(self, indent: str, operation: int) -> None:
        if not self._compressed:
            self.add(indent, f"p += {_BYTES[operation]}")
            return
        self.add(indent, "if b[p] < 128: p += 1")
        self.add(indent, "elif b[p + 1] < 128: p += 2")
        self.add(indent, "else: p = after_varint(b, p)")
