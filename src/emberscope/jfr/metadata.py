"""The types of a chunk, as its own metadata event describes them.

The event holds a table of strings and a tree of elements over it: `class` (id, name, super type) with `field` (name,
class, constant pool or inline, dimension), both with `annotation`s. Ids are good for one chunk only.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from emberscope.jfr.encoding import BROKEN, Damaged, read_long
from emberscope.kernel import elements

METADATA_EVENT: Final = 0
CHECKPOINT_EVENT: Final = 1

_TIMESPAN: Final = "jdk.jfr.Timespan"


class Field:
    """A field of a type: the id of its own type; `pooled` where only a key of that type's pool is written.

    `annotations` are as they are written, in keys and values; see `Metadata.annotation`.
    """

    __slots__ = ("annotations", "is_array", "name", "pooled", "type_id")

    def __init__(self, name: str, type_id: int, pooled: bool, is_array: bool) -> None:
        self.name = name
        self.type_id = type_id
        self.pooled = pooled
        self.is_array = is_array
        self.annotations: list[tuple[str, ...]] = []


class Type:
    """A type; `simple` where it stands for the one field that it has."""

    __slots__ = ("annotations", "fields", "id", "name", "simple", "super_type")

    def __init__(self, type_id: int, name: str, super_type: str, simple: bool) -> None:
        self.id = type_id
        self.name = name
        self.super_type = super_type
        self.simple = simple
        self.fields: list[Field] = []
        self.annotations: list[tuple[str, ...]] = []


class Metadata:
    """All types by id, and the ids of those that are wanted by name. One object for equal descriptions."""

    def __init__(self, types: Mapping[int, Type], by_name: Mapping[str, Type]) -> None:
        self.types = types
        self.by_name = by_name

    @functools.cached_property
    def event_ids(self) -> frozenset[int]:
        return frozenset(t.id for t in self.types.values() if t.super_type.endswith(".Event"))

    @functools.cached_property
    def known(self) -> frozenset[int]:
        """Types of events that may lie in the chunk."""
        return self.event_ids | {METADATA_EVENT, CHECKPOINT_EVENT}

    def name_of(self, type_id: int) -> str:
        found = self.types.get(type_id)
        return found.name if found is not None else f"type {type_id}"

    def reachable(self, names: Iterable[str]) -> set[str]:
        """The names of all types that values of these lead to."""
        found: set[str] = set()
        waiting = [self.by_name[name] for name in names if name in self.by_name]
        while waiting:
            for described in waiting.pop().fields:
                inner = self.types.get(described.type_id)
                if inner is not None and inner.name not in found:
                    found.add(inner.name)
                    waiting.append(inner)
        return found

    def annotation(self, of: Field | Type, name: str) -> str | None:
        """The value of an annotation by its full name (`jdk.jfr.Label`); None where it is not there.

        Several values are joined by ` / `; empty where it has none.
        """
        kind = self.by_name.get(name)
        for pairs in of.annotations if kind is not None else ():
            attributes = dict(zip(pairs[::2], pairs[1::2], strict=True))
            if kind is not None and attributes.get("class") == str(kind.id):
                return " / ".join(v for key, v in attributes.items() if key == "value" or key.startswith("value-"))
        return None

    def timespan_unit(self, type_name: str, field_name: str) -> str | None:
        """The unit that the metadata gives a duration: `TICKS`, `NANOSECONDS`, `MILLISECONDS`...; None if none."""
        owner = self.by_name.get(type_name)
        for candidate in owner.fields if owner is not None else ():
            if candidate.name == field_name:
                unit = self.annotation(candidate, _TIMESPAN)
                return None if unit is None else unit or "NANOSECONDS"
        return None


def metadata_body(b: bytes | memoryview, position: int, compressed: bool) -> bytes:
    """The part of the metadata event at `position` that stays the same from chunk to chunk while no type is added.

    Raises `Damaged` where none is there.
    """
    size, p = read_long(b, position, compressed, bits=32)
    kind, p = read_long(b, p, compressed)
    if kind != METADATA_EVENT or not 0 < size <= len(b) - position:
        raise Damaged(f"no metadata event at byte {position}")
    for _ in range(3):  # start, duration, metadata id
        _, p = read_long(b, p, compressed)
    return bytes(b[p : position + size])


@functools.lru_cache(maxsize=32)
def parse_metadata(body: bytes, compressed: bool) -> Metadata:
    """The types of a chunk. Kept for the next chunk, which nearly always has the same.

    Raises `Damaged` where the tree cannot be read.
    """
    try:
        return _types(elements(body, compressed))
    except BROKEN as error:
        raise Damaged(f"metadata cannot be read: {error}") from error


def _types(described: list[tuple[int, str, tuple[str, ...]]]) -> Metadata:
    """Types from the elements in their order: an element belongs to the nearest before it that is less deep."""
    types: dict[int, Type] = {}
    owners: list[Type | Field | None] = [None] * 32  # by depth
    for depth, element, pairs in described:
        owner = owners[depth - 1] if depth else None
        node: Type | Field | None = None
        if element == "annotation":
            if owner is not None:
                owner.annotations.append(pairs)
        elif element == "field":
            if isinstance(owner, Type):
                attributes = dict(zip(pairs[::2], pairs[1::2], strict=True))
                node = Field(
                    attributes["name"],
                    int(attributes["class"]),
                    attributes.get("constantPool") == "true",
                    attributes.get("dimension", "0") != "0",
                )
                owner.fields.append(node)
        elif element == "class":
            attributes = dict(zip(pairs[::2], pairs[1::2], strict=True))
            simple = attributes.get("simpleType") == "true"
            node = Type(int(attributes["id"]), attributes["name"], attributes.get("superType", ""), simple)
            types[node.id] = node
        owners[depth] = node
    return Metadata(types, {t.name: t for t in types.values()})
