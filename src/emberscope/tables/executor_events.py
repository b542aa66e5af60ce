"""One row per thing that befell an executor or a node: excluded (blacklisted), removed, left without memory."""

from typing import Final

from emberscope.tables.table import Column, Table

EXECUTOR_EVENTS: Final = Table(
    "executor_events",
    "one thing that befell an executor or a node",
    (
        Column("time_ms", "int64", "epoch ms", "when", "Timestamp, time"),
        Column(
            "event",
            "category",
            "added removed block_manager_added block_manager_removed excluded unexcluded process_added",
            "what; excluded is blacklisted before Spark 3.1",
            "ExecutorAdded, ExecutorRemoved, BlockManager*, Executor*Excluded, Executor*Blacklisted, "
            "Node*Excluded, Node*Blacklisted, MiscellaneousProcessAdded",
        ),
        Column("executor_id", "string", "id", "executor; null where it is a whole node", "Executor ID, executorId"),
        Column("host", "string", "name", "host; null where only the executor is named", "Host, hostId"),
        Column("stage_id", "int32", "id", "stage that alone excludes it; null for the application", "stageId"),
        Column("stage_attempt", "int32", "number", "attempt of that stage", "stageAttemptId"),
        Column(
            "failures",
            "int32",
            "failures",
            "failed tasks of the executor, or excluded executors of the node, that led to it",
            "taskFailures, executorFailures",
        ),
        Column("reason", "string", "text", "why, redacted", "ExecutorRemoved.Removed Reason"),
    ),
)
