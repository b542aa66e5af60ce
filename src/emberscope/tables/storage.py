"""One row per RDD that was to be kept (cache, persist): its level, and what of it lay where."""

from typing import Final

from emberscope.tables.table import Column, Table

_UPDATES: Final = "BlockUpdated (where spark.eventLog.logBlockUpdates.enabled), or Stage Info.RDD Info before Spark 2.3"

STORAGE: Final = Table(
    "storage",
    "one RDD that was to be kept",
    (
        Column("rdd_id", "int32", "id", "RDD", "RDD Info.RDD ID"),
        Column("name", "string", "text", "name, redacted; of a cached plan its first line", "RDD Info.Name"),
        Column("call_site", "string", "text", "where it was made", "RDD Info.Callsite"),
        Column(
            "storage_level", "category", "words", "level in the words of Spark's own page", "RDD Info.Storage Level"
        ),
        Column("partition_count", "int32", "partitions", "partitions of the RDD", "RDD Info.Number of Partitions"),
        Column("first_stage_id", "int32", "id", "first stage that names it", "Stage Info.RDD Info"),
        Column("stage_count", "int32", "stages", "stages that name it", "Stage Info.RDD Info"),
        Column(
            "cached_partitions", "int32", "partitions", "kept when the log ends; null where no event says", _UPDATES
        ),
        Column("memory_bytes", "int64", "bytes", "in memory when the log ends; null where no event says", _UPDATES),
        Column("disk_bytes", "int64", "bytes", "on disk when the log ends; null where no event says", _UPDATES),
        Column("peak_memory_bytes", "int64", "bytes", "largest memory at one time; null where no event says", _UPDATES),
        Column("peak_disk_bytes", "int64", "bytes", "largest disk at one time; null where no event says", _UPDATES),
        Column(
            "evictions",
            "int64",
            "blocks",
            "blocks that left memory while the RDD was kept and their executor ran; null where no event says",
            "BlockUpdated",
        ),
        Column("unpersisted", "bool", "flag", "whether the user let it go", "UnpersistRDD"),
    ),
)
