"""What logs say: records that a rule asks for, and every other error and warning once."""

from typing import Final

from emberscope.tables.table import Column, Table

LOG_EVENTS: Final = Table(
    "log_events",
    "one record of a log, or several that differ in numbers and names alone",
    (
        Column("event_id", "int64", "number", "number of the row", "order of time, then of reading"),
        Column("time_ms", "int64", "epoch ms", "when, of several the first; null where no clock is known", "log"),
        Column("last_ms", "int64", "epoch ms", "when, of several the last", "log"),
        Column("count", "int64", "records", "how many records the row stands for", "log"),
        Column("level", "category", "FATAL ERROR WARN INFO DEBUG TRACE", "how bad the writer thought it", "log"),
        Column("logger", "string", "name", "the class or component that wrote it", "log"),
        Column("thread", "string", "name", "the thread that wrote it", "log"),
        Column("message", "string", "text", "the first line of the first of them, secrets taken out", "log"),
        Column("text", "string", "text", "all lines of the first of them, cut after 8,000 characters", "log"),
        Column("exception", "string", "class", "class of the outermost exception", "stack trace"),
        Column("causes", "list<string>", "text", "`class: message` of each exception, outermost first", "stack trace"),
        Column(
            "frames",
            "list<string>",
            "text",
            "frames of the innermost cause, innermost first, at most 30",
            "stack trace",
        ),
        Column("signatures", "list<string>", "name", "signatures of rules that match it", "rules"),
        Column("fields", "string", "JSON", "named groups of each signature: {signature: {group: text}}", "rules"),
        Column("file", "category", "path", "where it was read", "input"),
        Column("line", "int64", "number", "first line there, from 1", "input"),
        Column(
            "role",
            "category",
            "driver executor am worker client livy history pod node python",
            "kind of process",
            "log",
        ),
        Column("executor_id", "category", "id", "executor that wrote it, or that it is about", "log"),
        Column("container_id", "category", "id", "container or pod", "path, log"),
        Column("host", "category", "name", "host", "path, log"),
        Column("app_id", "category", "id", "application", "path, log"),
    ),
)
