"""Kept RDDs and their blocks: what stages say of an RDD, and what executors say of its blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import Id, Int, RddInfo, Record, StorageLevel
from emberscope.eventlog.executors import BlockManagerId
from emberscope.redact import Redactor, shorten
from emberscope.tables.storage import STORAGE
from emberscope.tables.storage_blocks import STORAGE_BLOCKS

_BLOCK: Final = re.compile(r"rdd_(\d{1,9})_(\d{1,9})")
_NAME_CHARACTERS: Final = 500


class BlockUpdate(Record, frozen=True):
    block_manager: BlockManagerId = msgspec.field(name="Block Manager ID")
    block_id: str = msgspec.field(name="Block ID")
    level: StorageLevel = msgspec.field(name="Storage Level", default=StorageLevel())
    memory_bytes: Int = msgspec.field(name="Memory Size", default=0)
    disk_bytes: Int = msgspec.field(name="Disk Size", default=0)


class BlockUpdated(Record, frozen=True):
    update: BlockUpdate = msgspec.field(name="Block Updated Info")


class UnpersistRdd(Record, frozen=True):
    rdd_id: Id = msgspec.field(name="RDD ID")


Key = tuple[int, str]


@dataclass(slots=True)
class _Rdd:
    name: str | None = None
    call_site: str | None = None
    level: str | None = None
    partition_count: int | None = None
    first_stage_id: int | None = None
    stages: set[int] = field(default_factory=set)
    unpersisted: bool = False
    # By partition and executor: level, bytes in memory, bytes on disk.
    blocks: dict[Key, tuple[str, int, int]] = field(default_factory=dict)
    memory: int = 0
    disk: int = 0
    peak_memory: int = 0
    peak_disk: int = 0
    evictions: int = 0
    # What Spark before 2.3 says with each stage that completes: partitions, memory, disk.
    told: tuple[int, int, int] | None = None

    def put(self, key: Key, level: str, memory: int, disk: int) -> None:
        _, memory_before, disk_before = self.blocks.pop(key, ("", 0, 0))
        if memory or disk:
            self.blocks[key] = (level, memory, disk)
        self.memory += memory - memory_before
        self.disk += disk - disk_before
        self.peak_memory = max(self.peak_memory, self.memory)
        self.peak_disk = max(self.peak_disk, self.disk)


class StorageColumns:
    """Collects RDDs that are to be kept, and their blocks."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._rdds: dict[int, _Rdd] = {}
        self._updates = False

    def named(self, stage_id: int, info: RddInfo) -> None:
        """A stage that is planned names this RDD, which is to be kept."""
        if info.rdd_id is None:
            return
        rdd = self._rdds.setdefault(info.rdd_id, _Rdd())
        name = shorten(info.name, _NAME_CHARACTERS)
        rdd.name, rdd.call_site = self._redactor.text(name), self._redactor.text(info.call_site)
        rdd.level, rdd.partition_count = info.level.words(), info.partition_count
        if rdd.first_stage_id is None:
            rdd.first_stage_id = stage_id
        rdd.stages.add(stage_id)
        rdd.unpersisted = False

    def told(self, info: RddInfo) -> None:
        """What a completed stage says of the blocks of an RDD, as Spark did before 2.3."""
        rdd = self._rdds.get(-1 if info.rdd_id is None else info.rdd_id)
        if rdd is None:
            return
        rdd.told = (info.cached_partitions or 0, info.memory_bytes or 0, info.disk_bytes or 0)
        rdd.peak_memory = max(rdd.peak_memory, rdd.told[1])
        rdd.peak_disk = max(rdd.peak_disk, rdd.told[2])

    def updated(self, event: BlockUpdated) -> None:
        self._updates = True
        update = event.update
        found = _BLOCK.fullmatch(update.block_id)
        if found is None:
            return
        rdd = self._rdds.setdefault(int(found[1]), _Rdd())
        key = (int(found[2]), update.block_manager.executor_id)
        # A block that leaves says how much left, beside a level that holds nothing.
        memory = update.memory_bytes if update.level.memory else 0
        disk = update.disk_bytes if update.level.disk else 0
        if not memory and key in rdd.blocks and rdd.blocks[key][1] and not rdd.unpersisted:
            rdd.evictions += 1
        rdd.put(key, update.level.words(), memory, disk)

    def unpersisted(self, event: UnpersistRdd) -> None:
        rdd = self._rdds.get(event.rdd_id)
        if rdd is not None:
            rdd.unpersisted = True
            rdd.blocks.clear()
            rdd.memory = rdd.disk = 0
            if rdd.told:
                rdd.told = (0, 0, 0)

    def gone(self, executor_id: str) -> None:
        """An executor was removed, and its blocks with it."""
        for rdd in self._rdds.values():
            for key in [key for key in rdd.blocks if key[1] == executor_id]:
                rdd.put(key, "", 0, 0)

    def tables(self) -> dict[str, pa.Table]:
        """Tables `storage` and `storage_blocks`."""
        rows = [self._row(rdd_id, rdd) for rdd_id, rdd in sorted(self._rdds.items())]
        blocks = [
            {
                "rdd_id": rdd_id,
                "partition": partition,
                "executor_id": executor_id,
                "storage_level": level,
                "memory_bytes": memory,
                "disk_bytes": disk,
            }
            for rdd_id, rdd in sorted(self._rdds.items())
            for (partition, executor_id), (level, memory, disk) in rdd.blocks.items()
        ]
        return {"storage": STORAGE.from_rows(rows), "storage_blocks": STORAGE_BLOCKS.from_rows(blocks)}

    def _row(self, rdd_id: int, rdd: _Rdd) -> dict[str, Any]:
        row: dict[str, Any] = {
            "rdd_id": rdd_id,
            "name": rdd.name,
            "call_site": rdd.call_site,
            "storage_level": rdd.level,
            "partition_count": rdd.partition_count,
            "first_stage_id": rdd.first_stage_id,
            "stage_count": len(rdd.stages),
            "unpersisted": rdd.unpersisted,
        }
        if self._updates:
            cached = len({partition for partition, _ in rdd.blocks})
            row |= {"cached_partitions": cached, "memory_bytes": rdd.memory, "disk_bytes": rdd.disk}
            row["evictions"] = rdd.evictions
        elif rdd.told:
            row |= dict(zip(("cached_partitions", "memory_bytes", "disk_bytes"), rdd.told, strict=True))
        if self._updates or rdd.told:
            row |= {"peak_memory_bytes": rdd.peak_memory, "peak_disk_bytes": rdd.peak_disk}
        return row
