"""One row per session of a client: of Spark Connect, or of the Thrift (JDBC) server."""

from typing import Final

from emberscope.tables.table import Column, Table

SESSIONS: Final = Table(
    "sessions",
    "one session of a client",
    (
        Column("session_id", "string", "id", "session", "sessionId"),
        Column("server", "category", "connect thrift", "which server", "event name"),
        Column("user", "string", "name", "user", "userId, userName"),
        Column("client_host", "string", "name", "address of a Thrift client", "ThriftServerSessionCreated.ip"),
        Column(
            "started_ms", "int64", "epoch ms", "start", "ConnectSessionStarted.eventTime, ThriftServerSessionCreated"
        ),
        Column("closed_ms", "int64", "epoch ms", "end; null while open", "ConnectSessionClosed.eventTime, finishTime"),
    ),
)
