"""A small writer of JFR chunks, for what no JVM at hand writes: fixed-width integers, rare encodings, odd types."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

EVENT = "jdk.jfr.Event"
TIMESPAN = 9


def varint(value: int) -> bytes:
    """An integer of up to 64 bits as the JVM compresses it."""
    value &= (1 << 64) - 1
    out = bytearray()
    for _ in range(8):
        if value < 128:
            out.append(value)
            return bytes(out)
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


@dataclass
class Chunk:
    """Collects types, checkpoints and events in the order of the file; `finish` gives the bytes."""

    compressed: bool = True
    types: list[tuple[int, str, str, list[tuple[dict[str, str], str]]]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    checkpoints: list[int] = field(default_factory=list)

    def long(self, value: int) -> bytes:
        return varint(value) if self.compressed else struct.pack(">q", value - (1 << 64) if value >> 63 > 0 else value)

    def int(self, value: int) -> bytes:
        return varint(value & 0xFFFFFFFF) if self.compressed else struct.pack(">i", value)

    def short(self, value: int) -> bytes:
        return varint(value & 0xFFFF) if self.compressed else struct.pack(">h", value)

    def char(self, value: int) -> bytes:
        return varint(value) if self.compressed else struct.pack(">H", value)

    def text(self, value: str, encoding: int = 3) -> bytes:
        if encoding == 4:
            units = value.encode("utf-16-le", "surrogatepass")
            shorts = struct.unpack(f"<{len(units) // 2}H", units)
            return b"\x04" + self.int(len(shorts)) + b"".join(self.char(unit) for unit in shorts)
        raw = value.encode("latin-1" if encoding == 5 else "utf-8")
        return bytes([encoding]) + self.int(len(raw)) + raw

    def type(self, type_id: int, name: str, *fields: str, super_type: str = "") -> None:
        """A type; a field is `name:type id`, with `*` after the id for a key of its pool, `[]` for an array.

        `@UNIT` at the end is the annotation of a time span; its type must have the id `TIMESPAN`.
        """
        described = []
        for entry in fields:
            label, _, target = entry.partition(":")
            target, _, unit = target.partition("@")
            attributes = {"name": label, "class": target.rstrip("*[]")}
            if "*" in target:
                attributes["constantPool"] = "true"
            if "[]" in target:
                attributes["dimension"] = "1"
            described.append((attributes, unit))
        self.types.append((type_id, name, super_type, described))

    def event(self, type_id: int, payload: bytes) -> int:
        """Append an event; its position in the chunk."""
        position = 68 + len(self.body)
        rest = self.long(type_id) + payload
        size = len(rest) + 4
        head = struct.pack(">i", size)
        if self.compressed:  # padded to four bytes, as the JVM does with sizes that it fills in late
            head = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
        self.body += head + rest
        return position

    def checkpoint(self, *pools: tuple[int, list[bytes]]) -> int:
        """Append a checkpoint of (type id, records with their keys), linked to the one before."""
        position = 68 + len(self.body)
        delta = self.checkpoints[-1] - position if self.checkpoints else 0
        payload = self.long(0) + self.long(0) + self.long(delta) + b"\0" + self.int(len(pools))
        for type_id, records in pools:
            payload += self.long(type_id) + self.int(len(records)) + b"".join(records)
        self.checkpoints.append(position)
        return self.event(1, payload)

    def finish(self, *, start_ns: int = 10**18, start_ticks: int = 0, hertz: int = 10**9, state: int = 0) -> bytes:
        """The chunk's bytes with metadata and header."""
        metadata = self._metadata()
        flags = 1 if self.compressed else 0
        size = 68 + len(self.body)
        constants = self.checkpoints[-1] if self.checkpoints else 0
        numbers = struct.pack(">7q", size, constants, metadata, start_ns, 10**9, start_ticks, hertz)
        return b"FLR\0" + struct.pack(">HH", 2, 1) + numbers + struct.pack(">BxH", state, flags) + bytes(self.body)

    def _metadata(self) -> int:
        strings: dict[str, int] = {}

        def number(text: str) -> bytes:
            return self.int(strings.setdefault(text, len(strings)))

        def element(name: str, attributes: dict[str, str], children: list[bytes]) -> bytes:
            pairs = b"".join(number(key) + number(value) for key, value in attributes.items())
            return number(name) + self.int(len(attributes)) + pairs + self.int(len(children)) + b"".join(children)

        classes = []
        for type_id, name, super_type, fields in self.types:
            attributes = {"name": name, "id": str(type_id)} | ({"superType": super_type} if super_type else {})
            children = [
                element(
                    "field", field, [element("annotation", {"class": str(TIMESPAN), "value": unit}, [])] if unit else []
                )
                for field, unit in fields
            ]
            classes.append(element("class", attributes, children))
        tree = element("root", {}, [element("metadata", {}, classes)])
        table = self.int(len(strings)) + b"".join(self.text(text, 4) for text in strings)
        return self.event(0, self.long(0) + self.long(0) + self.long(1) + table + tree)
