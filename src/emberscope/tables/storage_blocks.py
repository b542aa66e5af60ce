"""One row per block of a kept RDD that lies in an executor when the log ends. None without block updates."""

from typing import Final

from emberscope.tables.table import Column, Table

STORAGE_BLOCKS: Final = Table(
    "storage_blocks",
    "one block of an RDD in one executor",
    (
        Column("rdd_id", "int32", "id", "RDD", "Block Updated Info.Block ID"),
        Column("partition", "int32", "id", "partition of the RDD", "Block Updated Info.Block ID"),
        Column("executor_id", "category", "id", "executor that holds it", "Block Manager ID.Executor ID"),
        Column("storage_level", "category", "words", "how it is kept", "Block Updated Info.Storage Level"),
        Column("memory_bytes", "int64", "bytes", "in memory", "Block Updated Info.Memory Size"),
        Column("disk_bytes", "int64", "bytes", "on disk", "Block Updated Info.Disk Size"),
    ),
)
