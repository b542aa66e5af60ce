"""One row per SQL metric of an operator of the last physical plan."""

from typing import Final

from emberscope.tables.table import Column, Table

PLAN_METRICS: Final = Table(
    "plan_metrics",
    "one metric of one operator",
    (
        Column("sql_execution_id", "int64", "id", "execution", "SQLExecutionStart.executionId"),
        Column(
            "node_id",
            "int32",
            "number",
            "operator, as in plan_nodes; null where no operator of the last plan shows it",
            "sparkPlanInfo",
        ),
        Column("accumulator_id", "int64", "id", "accumulator that carries it", "sparkPlanInfo.metrics.accumulatorId"),
        Column("name", "category", "name", "metric, as Spark shows it", "sparkPlanInfo.metrics.name"),
        Column(
            "metric_type",
            "category",
            "sum size timing nsTiming average",
            "how Spark formats it",
            "sparkPlanInfo.metrics.metricType",
        ),
        Column(
            "value",
            "int64",
            "by metric_type",
            "total over all task attempts of the execution, failed ones and failed attempts of stages too, and driver "
            "updates: records, bytes, ms or ns; null for averages and where none counted. Before Spark 3, sizes and "
            "times begin at -1 in each task, so that their totals may lack one for each",
            "StageCompleted.Accumulables, DriverAccumUpdates",
        ),
        Column(
            "last_attempt_value",
            "int64",
            "by metric_type",
            "the same as Spark's own pages count it: of each stage the last attempt, of each task the last update, "
            "until one attempt succeeds",
            "StageCompleted.Accumulables, TaskEnd.Accumulables of repeated tasks, DriverAccumUpdates",
        ),
        Column("stage_ids", "list<int32>", "ids", "stages that updated it", "StageCompleted.Accumulables"),
    ),
)
