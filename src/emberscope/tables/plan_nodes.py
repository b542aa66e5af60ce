"""One row per operator of the last physical plan of each SQL execution."""

from typing import Final

from emberscope.tables.table import Column, Table

PLAN_NODES: Final = Table(
    "plan_nodes",
    "one operator of a physical plan",
    (
        Column("sql_execution_id", "int64", "id", "execution", "SQLExecutionStart.executionId"),
        Column(
            "node_id",
            "int32",
            "number",
            "number of the operator in its plan, depth first from 0; marks such as InputAdapter are left out",
            "sparkPlanInfo",
        ),
        Column(
            "parent_node_id",
            "int32",
            "number",
            "operator that consumes it; null for the root",
            "sparkPlanInfo.children",
        ),
        Column("name", "string", "name", "operator", "sparkPlanInfo.nodeName"),
        Column("detail", "string", "text", "operator with its arguments, redacted", "sparkPlanInfo.simpleString"),
        Column(
            "codegen_id",
            "int32",
            "id",
            "WholeStageCodegen stage it was compiled into; null for none",
            "sparkPlanInfo.nodeName",
        ),
        Column(
            "stage_ids",
            "list<int32>",
            "ids",
            "stages of the execution that updated one of its metrics, or else one of its generated code",
            "StageCompleted.Accumulables",
        ),
    ),
)
