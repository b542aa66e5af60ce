"""One row per accumulator that a stage attempt reported when it completed, without those of Spark's task metrics."""

from typing import Final

from emberscope.tables.table import Column, Table

ACCUMULABLES: Final = Table(
    "accumulables",
    "one accumulator as of the completion of one stage attempt",
    (
        Column("stage_id", "int32", "id", "stage", "Stage Info.Stage ID"),
        Column("stage_attempt", "int32", "number", "attempt of the stage, from 0", "Stage Info.Stage Attempt ID"),
        Column("accumulator_id", "int64", "id", "accumulator", "Accumulables.ID"),
        Column("name", "category", "name", "name; accumulators without one are not logged", "Accumulables.Name"),
        Column(
            "kind",
            "category",
            "sql user",
            "who counts: an operator of a plan, or the user's own code",
            "Accumulables.Metadata, sparkPlanInfo.metrics",
        ),
        Column(
            "value",
            "int64",
            "by name",
            "value at the end of the stage, of all stages that share the accumulator; null where it is no integer",
            "Accumulables.Value",
        ),
        Column(
            "text", "string", "text", "value that is no integer, as JSON, shortened and redacted", "Accumulables.Value"
        ),
    ),
)
