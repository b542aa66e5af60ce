"""One row per task attempt that the log shows to start and never to end, where no end of its was lost."""

from typing import Final

from emberscope.tables.table import Column, Table

RUNNING_TASKS: Final = Table(
    "running_tasks",
    "one task attempt without an end",
    (
        Column("stage_id", "int32", "id", "stage", "TaskStart.Stage ID"),
        Column("stage_attempt", "int32", "number", "stage attempt, from 0", "TaskStart.Stage Attempt ID"),
        Column("task_id", "int64", "id", "task attempt, unique in the application", "Task Info.Task ID"),
        Column("task_index", "int32", "number", "index of the task in its stage", "Task Info.Index"),
        Column("attempt", "int32", "number", "attempt of the task, from 0", "Task Info.Attempt"),
        Column("executor_id", "string", "id", "executor that ran it", "Task Info.Executor ID"),
        Column("host", "string", "name", "host of the executor", "Task Info.Host"),
        Column("launch_ms", "int64", "epoch ms", "launch", "Task Info.Launch Time"),
        Column(
            "until_ms",
            "int64",
            "epoch ms",
            "until when it ran at most: removal of its executor, end of its stage or job, or end of what was seen",
            "ExecutorRemoved, StageCompleted, JobEnd, ApplicationEnd, last event",
        ),
        Column("at_end", "bool", "flag", "it still ran where the log ends", "ApplicationEnd, last event"),
    ),
)
