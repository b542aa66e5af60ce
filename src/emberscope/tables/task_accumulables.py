"""One row per update of an operator's metric. Read only where asked for: most of a log's bytes are these."""

from typing import Final

from emberscope.tables.table import Column, Table

TASK_ACCUMULABLES: Final = Table(
    "task_accumulables",
    "what one ended task attempt, or the driver, added to one accumulator; in the order of the log",
    (
        Column("stage_id", "int32", "id", "stage; null for the driver", "TaskEnd.Stage ID"),
        Column("stage_attempt", "int32", "number", "attempt of the stage, from 0", "TaskEnd.Stage Attempt ID"),
        Column("task_id", "int64", "id", "task attempt; null for the driver", "Task Info.Task ID"),
        Column("task_index", "int32", "number", "index of the task in its task set", "Task Info.Index"),
        Column("succeeded", "bool", "flag", "whether the attempt ended well", "Task End Reason.Reason"),
        Column(
            "sql_execution_id",
            "int64",
            "id",
            "execution for which the driver added it; null for tasks, whose stages tell",
            "DriverAccumUpdates.executionId",
        ),
        Column("accumulator_id", "int64", "id", "accumulator, as in plan_metrics", "Accumulables.ID, accumUpdates"),
        Column(
            "update",
            "int64",
            "by metric_type",
            "what was added, in the unit of plan_metrics; of an average, ten times the average",
            "Accumulables.Update, accumUpdates",
        ),
    ),
)
