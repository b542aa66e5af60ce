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
        Column("requested_ms", "int64", "epoch ms", "when it was asked for; null before Spark 3.4", "Request Time"),
        Column("registered_ms", "int64", "epoch ms", "when it came; null before Spark 3.4", "Registration Time"),
        Column("removed_ms", "int64", "epoch ms", "removal; null where none was seen", "ExecutorRemoved.Timestamp"),
        Column("removed_reason", "string", "text", "why it was removed, redacted", "ExecutorRemoved.Removed Reason"),
        Column(
            "decommissioned",
            "bool",
            "flag",
            "whether it left because it or its node was decommissioned; null while it is there",
            "ExecutorRemoved.Removed Reason",
        ),
        Column(
            "excluded",
            "int32",
            "events",
            "times that it was excluded (blacklisted), by itself, with its node, or for one stage",
            "Executor*Excluded, Node*Excluded, *Blacklisted",
        ),
        Column("resource_profile_id", "int32", "id", "resource profile; null before Spark 3.1", "Resource Profile Id"),
        Column(
            "resources",
            "list<string>",
            "names",
            "GPUs and other resources, as name:address; null before Spark 3",
            "Executor Info.Resources",
        ),
        Column("container_id", "string", "id", "container of YARN", "Executor Info.Attributes.CONTAINER_ID"),
        Column("log_url", "string", "URL", "its standard error, redacted", "Executor Info.Log Urls.stderr"),
        Column(
            "max_storage_memory_bytes",
            "int64",
            "bytes",
            "unified memory offered for storage",
            "BlockManagerAdded.Maximum Memory",
        ),
        Column(
            "max_on_heap_storage_bytes",
            "int64",
            "bytes",
            "of that on the heap; null before Spark 2.2",
            "BlockManagerAdded.Maximum Onheap Memory",
        ),
        Column(
            "max_off_heap_storage_bytes",
            "int64",
            "bytes",
            "of that off the heap; null before Spark 2.2",
            "BlockManagerAdded.Maximum Offheap Memory",
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
