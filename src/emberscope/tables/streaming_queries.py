"""One row per run of a streaming query (structured streaming)."""

from typing import Final

from emberscope.tables.table import Column, Table

STREAMING_QUERIES: Final = Table(
    "streaming_queries",
    "one run of a streaming query",
    (
        Column("query_id", "string", "id", "query; the same over restarts from its checkpoint", "Query*Event.id"),
        Column("run_id", "string", "id", "this run of it; its jobs have it as job group", "Query*Event.runId"),
        Column("name", "string", "name", "name that the user gave it", "QueryStartedEvent.name"),
        Column("started_ms", "int64", "epoch ms", "start; null before Spark 3", "QueryStartedEvent.timestamp"),
        Column(
            "status",
            "category",
            "stopped failed unfinished",
            "how it ended",
            "QueryTerminatedEvent.exception",
        ),
        Column("error_message", "string", "text", "why it failed, redacted", "QueryTerminatedEvent.exception"),
        Column("error_class", "string", "name", "error class; null before Spark 3.5", "errorClassOnException"),
        Column("batch_count", "int64", "batches", "batches of which the log has the progress", "QueryProgressEvent"),
        Column(
            "job_tags", "list<string>", "names", "tags of its jobs; null before Spark 4", "QueryStartedEvent.jobTags"
        ),
    ),
)
