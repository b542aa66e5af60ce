"""When which task ran on which thread: written by the recorder into the same recording as the samples."""

from typing import Final

from emberscope.tables.table import Column, Table

SPANS: Final = Table(
    "spans",
    "one sighting of a task: its start alone, or start and end",
    (
        Column("role", "category", "driver executor python", "kind of process", "chunk manifest"),
        Column("executor_id", "category", "id", "executor", "chunk manifest"),
        Column("host", "category", "name", "host of the process", "chunk manifest"),
        Column("thread_id", "int64", "id", "Java thread id", "emberscope.TaskStart, emberscope.TaskSpan"),
        Column(
            "start_ns", "int64", "epoch ns", "start of the task's body", "emberscope.TaskStart, emberscope.TaskSpan"
        ),
        Column("end_ns", "int64", "epoch ns", "end; null in the row of a start", "emberscope.TaskSpan"),
        Column("stage_id", "int32", "id", "stage", "emberscope.TaskSpan.stageId"),
        Column("stage_attempt", "int32", "number", "attempt of the stage", "emberscope.TaskSpan.stageAttempt"),
        Column("task_id", "int64", "id", "task attempt id", "emberscope.TaskSpan.taskId"),
        Column("attempt", "int32", "number", "attempt of the task index, from 0", "emberscope.TaskSpan.attempt"),
        Column("partition", "int32", "id", "partition", "emberscope.TaskSpan.partition"),
        Column("sql_execution_id", "int64", "id", "SQL execution; null for none", "emberscope.TaskSpan.sqlExecutionId"),
        Column("job_group", "string", "name", "job group", "emberscope.TaskSpan.jobGroup"),
        Column("description", "string", "text", "job description", "emberscope.TaskSpan.description"),
        Column(
            "outcome",
            "category",
            "success failed killed",
            "how it ended; null in the row of a start",
            "emberscope.TaskSpan.outcome",
        ),
        Column(
            "cpu_start_ns",
            "int64",
            "ns",
            "CPU time of the thread when the span started; null where the recorder did not say it",
            "emberscope.TaskStart.cpuStart, emberscope.TaskSpan.cpuStart",
        ),
        Column(
            "cpu_ns",
            "int64",
            "ns",
            "CPU time of the thread within the span; null in the row of a start, and where the recorder did not say it",
            "emberscope.TaskSpan.cpuEnd - cpuStart",
        ),
    ),
)
