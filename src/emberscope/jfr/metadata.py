"""The types of a chunk, as its own metadata event describes them.

The event holds a table of strings and a tree of elements over it: `class` (id, name, super type) with `field` (name,
class, constant pool or inline, dimension) with `annotation`. Ids are good for one chunk only.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from emberscope.jfr.encoding import BROKEN, Damaged, Integers, string

METADATA_EVENT: Final = 0
CHECKPOINT_EVENT: Final = 1
_MAX_DEPTH: Final = 16
_TIMESPAN: Final = "jdk.jfr.Timespan"


@dataclass(slots=True)
class Field:
    """A field of a type: the id of its own type; `pooled` where only a key of that type's pool is written."""

    name: str
    type_id: int
    pooled: bool
    is_array: bool
    annotations: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Type:
    id: int
    name: str
    super_type: str
    fields: list[Field] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Metadata:
    """All types by id, and the ids of those that are wanted by name."""

    types: Mapping[int, Type]
    by_name: Mapping[str, Type]

    @property
    def event_ids(self) -> frozenset[int]:
        return frozenset(t.id for t in self.types.values() if t.super_type.endswith(".Event"))

    def name_of(self, type_id: int) -> str:
        found = self.types.get(type_id)
        return found.name if found is not None else f"type {type_id}"

    def timespan_unit(self, type_name: str, field_name: str) -> str | None:
        """The unit that the metadata gives a duration: `TICKS`, `NANOSECONDS`, `MILLISECONDS`...; None if none."""
        annotation = self.by_name.get(_TIMESPAN)
        owner = self.by_name.get(type_name)
        if annotation is None or owner is None:
            return None
        for candidate in owner.fields:
            if candidate.name == field_name and annotation.id in candidate.annotations:
                return candidate.annotations[annotation.id] or "NANOSECONDS"
        return None


def metadata_body(b: bytes, position: int, integers: Integers) -> bytes:
    """The part of the metadata event at `position` that stays the same from chunk to chunk while no type is added."""
    size, p = integers.read_int(b, position)
    kind, p = integers.read_long(b, p)
    if kind != METADATA_EVENT or not 0 < size <= len(b) - position:
        raise Damaged(f"no metadata event at byte {position}")
    for _ in range(3):  # start, duration, metadata id
        _, p = integers.read_long(b, p)
    return b[p : position + size]


@functools.lru_cache(maxsize=32)
def parse_metadata(body: bytes, integers: Integers) -> Metadata:
    """The types of a chunk. Kept for the next chunk, which nearly always has the same.

    Raises `Damaged` where the tree cannot be read.
    """
    try:
        return _Parser(body, integers).parse()
    except BROKEN as error:
        raise Damaged(f"metadata cannot be read: {error}") from error


class _Parser:
    """One walk over the element tree."""

    def __init__(self, body: bytes, integers: Integers) -> None:
        self._b = body
        self._p = 0
        self._integers = integers
        self._strings: list[str] = []
        self._types: dict[int, Type] = {}

    def parse(self) -> Metadata:
        for _ in range(self._count()):
            text, self._p = string(self._b, self._p, len(self._b), self._integers)
            self._strings.append(text if isinstance(text, str) else "")
        self._element(None, 0)
        return Metadata(self._types, {t.name: t for t in self._types.values()})

    def _count(self) -> int:
        b, p = self._b, self._p
        if self._integers.compressed and b[p] < 128:
            self._p = p + 1
            return b[p]
        value, self._p = self._integers.read_int(b, p)
        if value < 0:
            raise Damaged(f"negative count at byte {p}")
        return value

    def _element(self, owner: Type | Field | None, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise Damaged("metadata is nested too deep")
        count, strings = self._count, self._strings
        kind = strings[count()]
        attributes: dict[str, str] = {}
        for _ in range(count()):
            key = strings[count()]
            attributes[key] = strings[count()]
        node: Type | Field | None = None
        if kind == "class":
            node = Type(int(attributes["id"]), attributes["name"], attributes.get("superType", ""))
            self._types[node.id] = node
        elif kind == "field" and isinstance(owner, Type):
            node = Field(
                attributes["name"],
                int(attributes["class"]),
                attributes.get("constantPool") == "true",
                attributes.get("dimension", "0") != "0",
            )
            owner.fields.append(node)
        elif kind == "annotation" and isinstance(owner, Field):
            owner.annotations[int(attributes["class"])] = attributes.get("value", "")
        for _ in range(count()):
            self._element(node, depth + 1)
