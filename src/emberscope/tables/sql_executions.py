"""One row per SQL execution (a query or command of Spark SQL)."""

from typing import Final

from emberscope.tables.table import Column, Table

SQL_EXECUTIONS: Final = Table(
    "sql_executions",
    "one SQL execution",
    (
        Column("sql_execution_id", "int64", "id", "execution", "SQLExecutionStart.executionId"),
        Column(
            "root_execution_id",
            "int64",
            "id",
            "outermost execution; null before Spark 3.5",
            "SQLExecutionStart.rootExecutionId",
        ),
        Column(
            "description",
            "string",
            "text",
            "description, usually the call site or the job description",
            "SQLExecutionStart.description",
        ),
        Column("details", "string", "text", "long call site", "SQLExecutionStart.details"),
        Column(
            "physical_plan",
            "string",
            "text",
            "last physical plan as text, redacted",
            "SQLExecutionStart.physicalPlanDescription, SQLAdaptiveExecutionUpdate",
        ),
        Column(
            "plan_updates",
            "int32",
            "updates",
            "times that adaptive execution changed the plan",
            "SQLAdaptiveExecutionUpdate",
        ),
        Column("job_group", "string", "name", "job group; null before Spark 4", "SQLExecutionStart.jobGroupId"),
        Column("job_tags", "list<string>", "names", "tags; null before Spark 3.5", "SQLExecutionStart.jobTags"),
        Column("query_id", "string", "id", "id of the query; null before Spark 4", "SQLExecutionEnd.queryId"),
        Column("started_ms", "int64", "epoch ms", "start", "SQLExecutionStart.time"),
        Column("ended_ms", "int64", "epoch ms", "end; null while unfinished", "SQLExecutionEnd.time"),
        Column("status", "category", "succeeded failed unfinished", "outcome", "SQLExecutionEnd.errorMessage"),
        Column("error_message", "string", "text", "why it failed, redacted", "SQLExecutionEnd.errorMessage"),
    ),
)
