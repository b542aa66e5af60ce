"""One row per operation of a client's session: a Spark Connect operation or a statement of the Thrift server."""

from typing import Final

from emberscope.tables.table import Column, Table

STATEMENTS: Final = Table(
    "statements",
    "one operation of a session",
    (
        Column("statement_id", "string", "id", "operation", "operationId, id"),
        Column("session_id", "string", "id", "its session", "sessionId"),
        Column("server", "category", "connect thrift", "which server", "event name"),
        Column("user", "string", "name", "user", "userId, userName"),
        Column(
            "job_tag",
            "string",
            "name",
            "tag (Connect) or job group (Thrift) of its jobs; see tags and job_group of table jobs",
            "jobTag, groupId",
        ),
        Column("tags", "list<string>", "names", "tags that the user gave; null without", "sparkSessionTags"),
        Column("text", "string", "text", "statement or plan, shortened and redacted", "statementText, statement"),
        Column("started_ms", "int64", "epoch ms", "start", "ConnectOperationStarted, ThriftServerOperationStart"),
        Column("analyzed_ms", "int64", "epoch ms", "analysis done", "ConnectOperationAnalyzed, OperationParsed"),
        Column("ready_ms", "int64", "epoch ms", "ready to execute", "ConnectOperationReadyForExecution"),
        Column(
            "finished_ms", "int64", "epoch ms", "execution done, failed or canceled", "OperationFinished, finishTime"
        ),
        Column("closed_ms", "int64", "epoch ms", "results fetched, or let go", "OperationClosed"),
        Column("status", "category", "succeeded failed canceled unfinished", "outcome", "Operation* events"),
        Column("error_message", "string", "text", "why it failed, redacted", "errorMessage, errorMsg"),
        Column("rows", "int64", "rows", "rows of the result", "ConnectOperationFinished.producedRowCount"),
    ),
)
