"""One row per micro-batch of a streaming query, as its progress tells it."""

from typing import Final

from emberscope.tables.table import Column, Table

_STEPS: Final = (
    ("latest_offset", "asking the sources for their newest offsets", "latestOffset"),
    ("get_batch", "making the plan of the new data", "getBatch"),
    ("query_planning", "planning the query", "queryPlanning"),
    ("add_batch", "running the batch and writing it to the sink", "addBatch"),
    ("wal_commit", "writing the offsets to the log", "walCommit"),
    ("commit_offsets", "writing that the batch is done", "commitOffsets"),
)
_STATE: Final = "QueryProgressEvent.progress.stateOperators"

STREAMING_BATCHES: Final = Table(
    "streaming_batches",
    "one micro-batch",
    (
        Column("query_id", "string", "id", "query", "QueryProgressEvent.progress.id"),
        Column("run_id", "string", "id", "run of the query", "QueryProgressEvent.progress.runId"),
        Column("name", "string", "name", "name of the query", "QueryProgressEvent.progress.name"),
        Column("batch_id", "int64", "id", "batch, from 0", "QueryProgressEvent.progress.batchId"),
        Column("started_ms", "int64", "epoch ms", "trigger", "QueryProgressEvent.progress.timestamp"),
        Column(
            "duration_ms",
            "int64",
            "ms",
            "whole trigger; before Spark 2.4, where that is not logged, the execution of the trigger",
            "progress.batchDuration, durationMs.triggerExecution",
        ),
        Column("trigger_execution_ms", "int64", "ms", "execution of the trigger", "durationMs.triggerExecution"),
        *(Column(f"{name}_ms", "int64", "ms", doc, f"durationMs.{key}") for name, doc, key in _STEPS),
        Column("input_rows", "int64", "rows", "rows read, of all sources", "progress.sources.numInputRows"),
        Column(
            "input_rows_per_second",
            "float64",
            "rows/s",
            "rows that came since the last trigger, per second, of all sources",
            "progress.sources.inputRowsPerSecond",
        ),
        Column(
            "processed_rows_per_second",
            "float64",
            "rows/s",
            "rows worked off per second of the trigger, of all sources",
            "progress.sources.processedRowsPerSecond",
        ),
        Column("output_rows", "int64", "rows", "rows written; null where the sink does not say", "sink.numOutputRows"),
        Column("watermark_ms", "int64", "epoch ms", "watermark; null where the query has none", "eventTime.watermark"),
        Column(
            "state_rows", "int64", "rows", "rows in the state, of all operators with state", f"{_STATE}.numRowsTotal"
        ),
        Column("state_rows_updated", "int64", "rows", "rows of the state that changed", f"{_STATE}.numRowsUpdated"),
        Column("state_rows_removed", "int64", "rows", "rows that left the state", f"{_STATE}.numRowsRemoved"),
        Column("state_memory_bytes", "int64", "bytes", "memory of the state", f"{_STATE}.memoryUsedBytes"),
        Column("state_commit_ms", "int64", "ms", "commits of the state, over all tasks", f"{_STATE}.commitTimeMs"),
        Column(
            "rows_dropped_by_watermark",
            "int64",
            "rows",
            "rows that came too late",
            f"{_STATE}.numRowsDroppedByWatermark",
        ),
        Column("sources", "list<string>", "names", "sources, redacted", "progress.sources.description"),
        Column("sink", "string", "name", "sink, redacted", "progress.sink.description"),
    ),
)
