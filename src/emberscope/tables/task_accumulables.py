"""One row per update of an operator's metric by a task. Read only where asked for: most of a log's bytes are these."""

from typing import Final

from emberscope.tables.table import Column, Table

TASK_ACCUMULABLES: Final = Table(
    "task_accumulables",
    "what one ended task attempt added to one accumulator of a plan",
    (
        Column("stage_id", "int32", "id", "stage", "TaskEnd.Stage ID"),
        Column("stage_attempt", "int32", "number", "attempt of the stage, from 0", "TaskEnd.Stage Attempt ID"),
        Column("task_id", "int64", "id", "task attempt", "Task Info.Task ID"),
        Column("task_index", "int32", "number", "index of the task in its task set", "Task Info.Index"),
        Column("succeeded", "bool", "flag", "whether the attempt ended well", "Task End Reason.Reason"),
        Column("accumulator_id", "int64", "id", "accumulator, as in plan_metrics", "Accumulables.ID"),
        Column("update", "int64", "by metric_type", "what the task added", "Accumulables.Update"),
    ),
)
