"""The constant pools of one chunk: what its events refer to by key.

Checkpoints hold them, some hundreds in a chunk of the JDK. The records carry no lengths, so that all pools have to be
walked for the few that are wanted. Keys are good within their chunk only and are up to 64 bits wide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from emberscope.jfr.decode import ReadPool, Wanted, pool_reader
from emberscope.jfr.encoding import BROKEN, Damaged, Integers, counted
from emberscope.jfr.metadata import CHECKPOINT_EVENT, Metadata

Pool: TypeAlias = dict[int | None, Any]

_WANTED: Final[dict[str, Wanted]] = {
    "jdk.types.StackTrace": (("truncated", "flag"), ("frames[].method", "key"), ("frames[].type", "key")),
    "jdk.types.Method": (("type", "key"), ("name", "key")),
    "jdk.types.Symbol": (("string", "text"),),
    "jdk.types.FrameType": (("description", "text"),),
    "jdk.types.ThreadState": (("name", "text"),),
    "java.lang.Class": (("name", "key"),),
    "java.lang.String": (("value", "text"),),
    "java.lang.Thread": (("osName", "text"), ("osThreadId", "int"), ("javaName", "text"), ("javaThreadId", "int")),
}
_LINE: Final[Wanted] = (("frames[].lineNumber", "int"),)


@dataclass(slots=True)
class Pools:
    """The wanted pools by type name; `faults` says what could not be read of the others' checkpoints."""

    by_name: dict[str, Pool] = field(default_factory=lambda: {name: {} for name in _WANTED})
    faults: list[str] = field(default_factory=list)

    def text(self, value: str | int | None) -> str | None:
        """A string field's value, looked up where the file holds only its key."""
        if isinstance(value, int):
            value = self.by_name["java.lang.String"].get(value)
        return value if isinstance(value, str) else None

    def symbol(self, key: int | None) -> str | None:
        return self.text(self.by_name["jdk.types.Symbol"].get(key))


class PoolReader:
    """Reads the checkpoints of chunks that share a metadata: the generated readers are kept from one to the next."""

    def __init__(self, metadata: Metadata, integers: Integers, lines: bool) -> None:
        self._metadata = metadata
        self._integers = integers
        self._lines = lines
        self._readers: dict[int, tuple[str, ReadPool]] = {}

    def read(self, b: bytes, positions: list[int]) -> Pools:
        """The pools of the checkpoints at `positions`, in the order of the file: a later entry replaces an earlier."""
        pools = Pools()
        unread: Pool = {}
        for position in positions:
            try:
                self._checkpoint(b, position, pools, unread)
            except BROKEN as error:
                pools.faults.append(f"constants at byte {position}: {error}")
        return pools

    def _checkpoint(self, b: bytes, position: int, pools: Pools, unread: Pool) -> None:
        integers = self._integers
        size, p = integers.read_int(b, position)
        kind, p = integers.read_long(b, p)
        end = position + size
        if kind != CHECKPOINT_EVENT or end > len(b):
            raise Damaged("no checkpoint")
        for _ in range(3):  # start, duration, distance to the one before
            _, p = integers.read_long(b, p)
        pool_count, p = integers.read_int(b, p + 1)
        for _ in range(pool_count):
            type_id, p = integers.read_long(b, p)
            count, p = integers.read_int(b, p)
            name, read = self._reader(type_id)
            p = read(b, p, end, counted(count, p, end), pools.by_name.get(name, unread))

    def _reader(self, type_id: int) -> tuple[str, ReadPool]:
        found = self._readers.get(type_id)
        if found is None:
            if type_id not in self._metadata.types:
                raise Damaged(f"constants of type {type_id}, which is not described")
            name = self._metadata.types[type_id].name
            wanted = _WANTED.get(name, ())
            if self._lines and name == "jdk.types.StackTrace":
                wanted += _LINE
            found = self._readers[type_id] = (name, pool_reader(self._metadata, type_id, wanted, self._integers))
        return found
