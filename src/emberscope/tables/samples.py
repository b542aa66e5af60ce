"""One row per sample of a profiler, in any process of the run."""

from typing import Final

from emberscope.tables.table import Column, Table

EVENTS: Final = ("cpu", "wall", "alloc", "lock", "io", "live", "native", "nativemem", "nativelock")
"""What can be sampled, the one that answers "where did the time go" first. Samples of two of them are never added."""

COUNTED_EVENTS: Final = ("cpu", "wall", "native")
"""Events that are shown by the number of their samples; all others weigh what they stand for, where that is said."""

VARIANTS: Final = (
    *("failed", "biased", "sampled", "in_new_tlab", "outside_tlab", "enter", "park"),
    *("file_read", "file_write", "file_force", "socket_read", "socket_write", "old", "kept", "freed"),
)
"""What an event of its kind may be in particular: see column `variant`."""

SAMPLES: Final = Table(
    "samples",
    "one sample (or a batch of equal ones, see count)",
    (
        Column("time_ns", "int64", "epoch ns", "when it was taken, by the clock of its process", "JFR startTime"),
        Column(
            "event",
            "category",
            "cpu wall alloc lock io live native nativemem nativelock",
            "what was sampled; io are waits for files and sockets; native is a thread seen in native code, no use of "
            "CPU; nativemem is memory from malloc",
            "JFR event type",
        ),
        Column(
            "variant",
            "category",
            " ".join(VARIANTS),
            "cpu: no stack could be taken, or only that of the next safepoint; alloc: drawn by rate, with a new buffer "
            "or outside of one; lock: of a monitor, or parked; io: for what; live: outlived a collection (of the look "
            "at which most objects of its class and stack lived); nativemem: never given back, or given back later",
            "JFR event type and its flags",
        ),
        Column("state", "category", "name", "thread state the sampler saw, as it names it", "JFR state"),
        Column("count", "int64", "samples", "how many samples this row stands for", "JFR samples, or 1"),
        Column(
            "value",
            "int64",
            "ns or bytes",
            "weight in the unit of its event: ns of CPU, wait or lock, bytes; null where it is not said",
            "JFR weight, duration, sampling period",
        ),
        Column("stack", "int32", "node", "node of the prefix tree in table stacks; 0 is no stack", "JFR stackTrace"),
        Column(
            "object_class",
            "category",
            "name",
            "class of the object that was allocated, lives or was waited for",
            "JFR objectClass, monitorClass, parkedClass",
        ),
        Column(
            "truncated",
            "bool",
            "flag",
            "whether the recorder cut the root side of the stack",
            "JFR stackTrace.truncated",
        ),
        Column("thread_id", "int64", "id", "Java thread id; 0 where there is none", "JFR thread.javaThreadId"),
        Column("os_thread_id", "int64", "id", "thread id of the operating system", "JFR thread.osThreadId"),
        Column(
            "thread_name",
            "category",
            "name",
            "name of the thread once per chunk: never a way to find the task",
            "JFR thread.javaName",
        ),
        Column("role", "category", "driver executor python", "kind of process", "chunk manifest"),
        Column("executor_id", "category", "id", "executor, or driver", "chunk manifest"),
        Column("host", "category", "name", "host of the process", "chunk manifest"),
        Column("stage_id", "int32", "id", "stage of the task that ran on the thread then", "join with spans"),
        Column("stage_attempt", "int32", "number", "attempt of the stage", "join with spans"),
        Column("task_id", "int64", "id", "task attempt id", "join with spans"),
        Column("partition", "int32", "id", "partition of the task", "join with spans"),
        Column("sql_execution_id", "int64", "id", "SQL execution of the task", "join with spans"),
        Column(
            "in_span",
            "bool",
            "flag",
            "true inside the task's span; false where the task was found by the span next to it on the thread",
            "join with spans",
        ),
    ),
)
