"""One row per job."""

from typing import Final

from emberscope.tables.table import Column, Table

JOBS: Final = Table(
    "jobs",
    "one job",
    (
        Column("job_id", "int32", "id", "job", "JobStart.Job ID"),
        Column("submitted_ms", "int64", "epoch ms", "submission", "JobStart.Submission Time"),
        Column("completed_ms", "int64", "epoch ms", "end; null while unfinished", "JobEnd.Completion Time"),
        Column("status", "category", "succeeded failed unfinished", "outcome", "JobEnd.Job Result"),
        Column("error_message", "string", "text", "why it failed, redacted", "JobEnd.Job Result.Exception"),
        Column("stage_ids", "list<int32>", "ids", "stages planned for it, skipped ones too", "JobStart.Stage IDs"),
        Column(
            "sql_execution_id", "int64", "id", "SQL execution it ran for", "JobStart.Properties spark.sql.execution.id"
        ),
        Column("job_group", "string", "name", "job group", "JobStart.Properties spark.jobGroup.id"),
        Column("description", "string", "text", "job description", "JobStart.Properties spark.job.description"),
        Column("call_site", "string", "text", "short call site of the action", "JobStart.Properties callSite.short"),
        Column("details", "string", "text", "long call site of the action", "JobStart.Properties callSite.long"),
        Column(
            "tags", "list<string>", "names", "job tags; null before Spark 3.5", "JobStart.Properties spark.job.tags"
        ),
        Column("pool", "string", "name", "pool of the fair scheduler", "JobStart.Properties spark.scheduler.pool"),
        Column(
            "streaming_query_id",
            "string",
            "id",
            "streaming query it ran for; the run of it is the job group",
            "JobStart.Properties sql.streaming.queryId",
        ),
        Column(
            "streaming_batch_id",
            "int64",
            "id",
            "batch of that query",
            "JobStart.Properties streaming.sql.batchId",
        ),
    ),
)
