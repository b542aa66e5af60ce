"""One row per stage attempt that was submitted or completed, and per stage that was only planned (skipped)."""

from typing import Final

from emberscope.tables.table import Column, Table

STAGES: Final = Table(
    "stages",
    "one stage attempt",
    (
        Column("stage_id", "int32", "id", "stage", "Stage Info.Stage ID"),
        Column("stage_attempt", "int32", "number", "attempt, from 0", "Stage Info.Stage Attempt ID"),
        Column(
            "name", "string", "text", "stage name: the action and its call site in one line", "Stage Info.Stage Name"
        ),
        Column("details", "string", "text", "long call site", "Stage Info.Details"),
        Column("task_count", "int32", "tasks", "tasks of this attempt", "Stage Info.Number of Tasks"),
        Column("parent_ids", "list<int32>", "ids", "stages whose shuffle output it reads", "Stage Info.Parent IDs"),
        Column(
            "rdd_names",
            "list<string>",
            "names",
            "names of the RDDs and of their operator scopes, outermost last",
            "Stage Info.RDD Info",
        ),
        Column("submitted_ms", "int64", "epoch ms", "submission", "Stage Info.Submission Time"),
        Column("completed_ms", "int64", "epoch ms", "completion; null while unfinished", "Stage Info.Completion Time"),
        Column("status", "category", "succeeded failed unfinished skipped", "outcome of the attempt", "StageCompleted"),
        Column("failure_reason", "string", "text", "why it failed, redacted", "Stage Info.Failure Reason"),
        Column("job_id", "int32", "id", "the first job that lists the stage", "JobStart.Stage IDs"),
        Column(
            "sql_execution_id",
            "int64",
            "id",
            "SQL execution it ran for",
            "StageSubmitted.Properties spark.sql.execution.id",
        ),
        Column("job_group", "string", "name", "job group", "StageSubmitted.Properties spark.jobGroup.id"),
        Column("description", "string", "text", "job description", "StageSubmitted.Properties spark.job.description"),
        Column(
            "codegen_ids",
            "list<int32>",
            "ids",
            "WholeStageCodegen ids among the stage's RDD scopes",
            "Stage Info.RDD Info.Scope",
        ),
        Column("resource_profile_id", "int32", "id", "resource profile; null before Spark 3.1", "Resource Profile Id"),
        Column(
            "barrier",
            "bool",
            "flag",
            "whether all its tasks start together; null before Spark 2.4",
            "Stage Info.RDD Info.Barrier",
        ),
        Column(
            "call_sites",
            "list<string>",
            "texts",
            "where its RDDs were made, without repeats; null before Spark 1.6",
            "Stage Info.RDD Info.Callsite",
        ),
        Column(
            "accumulator_ids",
            "list<int64>",
            "ids",
            "accumulators that the stage updated, without those of task metrics",
            "Stage Info.Accumulables",
        ),
    ),
)
