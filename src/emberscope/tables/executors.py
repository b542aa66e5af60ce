"""One row per executor that was added (in local mode the driver is one)."""

from typing import Final

from emberscope.tables.table import Column, Table

EXECUTORS: Final = Table(
    "executors",
    "one executor",
    (
        Column("executor_id", "string", "id", "executor", "ExecutorAdded.Executor ID"),
        Column("host", "string", "name", "host", "Executor Info.Host"),
        Column("cores", "int32", "slots", "task slots", "Executor Info.Total Cores"),
        Column("added_ms", "int64", "epoch ms", "registration", "ExecutorAdded.Timestamp"),
        Column("removed_ms", "int64", "epoch ms", "removal; null where none was seen", "ExecutorRemoved.Timestamp"),
        Column("removed_reason", "string", "text", "why it was removed, redacted", "ExecutorRemoved.Removed Reason"),
        Column("resource_profile_id", "int32", "id", "resource profile", "Executor Info.Resource Profile Id"),
        Column(
            "max_storage_memory_bytes",
            "int64",
            "bytes",
            "unified memory offered for storage",
            "BlockManagerAdded.Maximum Memory",
        ),
        Column(
            "peak_jvm_heap_bytes",
            "int64",
            "bytes",
            "largest heap in use that any event shows; null where never polled",
            "Executor Metrics.JVMHeapMemory",
        ),
    ),
)
