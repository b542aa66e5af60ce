"""Readers of records, written as Python source for each type of a chunk and compiled.

A type's layout is known only from the metadata of its chunk, and there are hundreds of thousands of records: a loop
over a description of the fields costs several times what straight code for them costs. The generated source holds
numbers and fixed words only, never a text from the file.

`wanted` names what a reader gives back: dotted paths of fields (`heapSpace.start`; `frames[].method` for a list) with
the kind that the caller can use. A path that the type lacks, or has as another kind, reads as None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from emberscope.jfr import encoding
from emberscope.jfr.encoding import Damaged, Integers
from emberscope.jfr.metadata import Metadata, Type

Kind: TypeAlias = Literal["int", "float", "flag", "text", "key"]
Wanted: TypeAlias = tuple[tuple[str, Kind], ...]
ReadEvent: TypeAlias = Callable[[bytes, int], tuple[Any, ...]]
"""(chunk, position of the event) to the wanted values. Reads no further than the last of them."""
ReadPool: TypeAlias = Callable[[bytes, int, int, int, dict[int | None, Any]], int]
"""(chunk, position, end, count, entries) to the position after `count` records, which are added to `entries`.

An entry is a tuple of the wanted values, the value itself where one is wanted; nothing is added where none is."""

MAX_NESTING: Final = 8
MAX_READS: Final = 4000
"""Reads in one record: the JDK's own types need some 60; damaged metadata could ask for millions."""

_INTEGER_KINDS: Final = {"long": "long", "int": "int", "short": "short", "char": "char"}
_VARINTS: Final = {"long": "varint", "int": "int_varint", "short": "short_varint", "char": "char_varint"}
_RAW_BYTES: Final = {"long": 8, "int": 4, "short": 2, "char": 2}


def event_reader(metadata: Metadata, type_id: int, wanted: Wanted, integers: Integers) -> ReadEvent:
    """A reader of the events of one type. It raises one of `encoding.BROKEN` for an event that cannot be right."""
    source = _Source(metadata, wanted, integers)
    source.integer(" ", "int", "x")
    source.add(" ", "end += x")
    source.skip_integer(" ", "long")
    source.fields(" ", metadata.types[type_id], "", 0)
    source.drop_after_last_wanted()
    source.add(" ", "if p > end: raise Damaged(f'event at byte {start} is longer than its size')")
    source.add(" ", f"return ({source.values()})")
    return source.compile("def read(b, p):\n start = end = p")  # type: ignore[no-any-return]


def pool_reader(metadata: Metadata, type_id: int, wanted: Wanted, integers: Integers) -> ReadPool:
    """A reader of the records of one type in a constant pool."""
    source = _Source(metadata, wanted, integers)
    source.integer("  ", "long", "key")
    source.fields("  ", metadata.types[type_id], "", 0)
    if len(wanted) == 1:
        source.add("  ", f"entries[key] = {source.values().rstrip(',')}")
    elif wanted:
        source.add("  ", f"entries[key] = ({source.values()})")
    source.add(" ", "if p > end: raise Damaged(f'constant pool is longer than its checkpoint at byte {p}')")
    source.add(" ", "return p")
    return source.compile("def read(b, p, end, count, entries):\n for _ in range(count):")  # type: ignore[no-any-return]


class _Source:
    """The lines of one reader while they are written."""

    def __init__(self, metadata: Metadata, wanted: Wanted, integers: Integers) -> None:
        self._metadata = metadata
        self._wanted = {path: (f"w{i}", kind) for i, (path, kind) in enumerate(wanted)}
        self._integers = integers
        self._lines: list[str] = []
        self._reads = 0
        self._found: set[str] = set()
        self._last_wanted = 0

    def add(self, indent: str, line: str) -> None:
        self._lines.append(indent + line)

    def values(self) -> str:
        """The wanted values as source, None for those that the type does not have."""
        return "".join(f"{name}," if name in self._found else "None," for name, _ in self._wanted.values())

    def drop_after_last_wanted(self) -> None:
        """Forget the reads after the last wanted one: an event's size says where the next begins."""
        del self._lines[self._last_wanted :]

    def compile(self, head: str) -> Any:
        scope: dict[str, Any] = {name: getattr(encoding, name) for name in _CALLED}
        scope["integers"] = self._integers
        exec(compile("\n".join([head, *self._lines]), "<jfr record>", "exec"), scope)
        return scope["read"]

    def fields(self, indent: str, owner: Type, prefix: str, depth: int) -> None:
        """The fields of a type one after the other; a primitive type has none and is its own value."""
        if depth > MAX_NESTING:
            raise Damaged("types are nested too deep")
        if not owner.fields:
            self._primitive(indent, owner.name, prefix or "value")
        for field in owner.fields:
            path = f"{prefix}.{field.name}" if prefix else field.name
            if field.is_array:
                self._array(indent, path, field.type_id, field.pooled, depth)
            else:
                self._one(indent, path, field.type_id, field.pooled, depth)

    def _one(self, indent: str, path: str, type_id: int, pooled: bool, depth: int) -> None:
        self._reads += 1
        if self._reads > MAX_READS:
            raise Damaged("a type has too many fields")
        if pooled:
            self._number(indent, "long", path, "key")
            return
        inner = self._metadata.types.get(type_id)
        if inner is None:
            raise Damaged(f"type {type_id} is used and not described")
        self.fields(indent, inner, path, depth + 1)

    def _array(self, indent: str, path: str, type_id: int, pooled: bool, depth: int) -> None:
        count = f"n{depth}"
        self.integer(indent, "int", count)
        self.add(indent, f"if not 0 <= {count} <= end - p: raise Damaged(f'impossible array length at byte {{p}}')")
        lists = [name for wanted, (name, _) in self._wanted.items() if wanted.startswith(path + "[]")]
        for name in lists:
            self.add(indent, f"{name} = []; {name}_add = {name}.append")
            self._found.add(name)
            self._last_wanted = len(self._lines)
        self.add(indent, f"for _{depth} in range({count}):")
        before = len(self._lines)
        self._one(indent + " ", path + "[]", type_id, pooled, depth + 1)
        if len(self._lines) == before:  # elements without content take no bytes, so nothing bounds their number
            del self._lines[-1]
        if lists:
            self._last_wanted = len(self._lines)

    def _primitive(self, indent: str, name: str, path: str) -> None:
        if name in _INTEGER_KINDS:
            self._number(indent, _INTEGER_KINDS[name], path, "int")
        elif name in ("byte", "boolean"):
            self._fixed(indent, path, ("int", "flag"), "b[p]", 1)
        elif name == "float":
            self._fixed(indent, path, ("float",), "raw_float(b, p)", 4)
        elif name == "double":
            self._fixed(indent, path, ("float",), "raw_double(b, p)", 8)
        elif name == "java.lang.String":
            stored = self._target(path, ("text",))
            if stored:
                self.add(indent, "x, p = string(b, p, end, integers)")
                self._store(indent, stored, path)
            else:
                self.add(indent, "p = after_string(b, p, end, integers)")

    def _fixed(self, indent: str, path: str, kinds: tuple[Kind, ...], value: str, size: int) -> None:
        stored = self._target(path, kinds)
        if stored:
            self.add(indent, f"x = {value}")
            self._store(indent, stored, path)
        self.add(indent, f"p += {size}")

    def _number(self, indent: str, width: str, path: str, kind: Kind) -> None:
        stored = self._target(path, (kind,))
        if stored:
            self.integer(indent, width, "x")
            self._store(indent, stored, path)
        else:
            self.skip_integer(indent, width)

    def _target(self, path: str, kinds: tuple[Kind, ...]) -> str:
        name, kind = self._wanted.get(path, ("", "int"))
        return name if name and kind in kinds else ""

    def _store(self, indent: str, name: str, path: str) -> None:
        self.add(indent, f"{name}_add(x)" if "[]" in path else f"{name} = x")
        self._found.add(name)
        self._last_wanted = len(self._lines)

    def integer(self, indent: str, width: str, name: str) -> None:
        """Read an integer of a width into a variable; one and two bytes, which nearly all have, without a call."""
        if not self._integers.compressed:
            self.add(indent, f"{name}, p = raw_{width}(b, p)")
            return
        self.add(indent, f"{name} = b[p]")
        self.add(indent, f"if {name} < 128: p += 1")
        self.add(indent, f"elif b[p + 1] < 128: {name} += (b[p + 1] << 7) - 128; p += 2")
        self.add(indent, f"else: {name}, p = {_VARINTS[width]}(b, p)")

    def skip_integer(self, indent: str, width: str) -> None:
        if not self._integers.compressed:
            self.add(indent, f"p += {_RAW_BYTES[width]}")
            return
        self.add(indent, "if b[p] < 128: p += 1")
        self.add(indent, "elif b[p + 1] < 128: p += 2")
        self.add(indent, "else: p = after_varint(b, p)")


_CALLED: Final = (
    "Damaged",
    "after_string",
    "after_varint",
    "char_varint",
    "int_varint",
    "raw_char",
    "raw_double",
    "raw_float",
    "raw_int",
    "raw_long",
    "raw_short",
    "short_varint",
    "string",
    "varint",
)
