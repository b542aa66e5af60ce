"""What a process or its user says of a moment or a span of time, beside the tasks: not sampled, never summed."""

from typing import Final

from emberscope.tables.table import Column, Table

MARKS: Final = Table(
    "marks",
    "one thing said",
    (
        Column("time_ns", "int64", "epoch ns", "when, or when it began", "JFR startTime"),
        Column("end_ns", "int64", "epoch ns", "when it ended; null for a moment", "JFR duration"),
        Column(
            "mark",
            "category",
            "span window user_event thread_start thread_end thread_dump compilation deoptimization class_load",
            "spans and events of a user's own code, a window that a profiler kept, a thread's start and end, a method "
            "that was compiled or whose code was thrown away, a class that was loaded",
            "JFR event type",
        ),
        Column(
            "name",
            "string",
            "name",
            "the user's name for it; of the thread, method or class",
            "JFR tag, type, thread …",
        ),
        Column("text", "string", "text", "what more it says: the data of an event, a dump, a compiler", "JFR field"),
        Column("thread_id", "int64", "id", "Java thread id; 0 where there is none", "JFR thread.javaThreadId"),
        Column("role", "category", "driver executor python", "kind of process", "chunk manifest"),
        Column("executor_id", "category", "id", "executor, or driver", "chunk manifest"),
        Column("host", "category", "name", "host of the process", "chunk manifest"),
    ),
)
