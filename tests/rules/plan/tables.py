"""Plans made by hand: rows of the tables from trees of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs
from msgspec.structs import fields

from emberscope.rules.base import Rule
from emberscope.tables.run import Run
from tests.runs import executor, job, run_of, stage, task


@dataclass(frozen=True)
class Op:
    """One operator; `stages` in which it ran, `counted` by Spark's names (`rows` stands for output rows)."""

    name: str
    stages: Sequence[int] = ()
    counted: Mapping[str, float] = field(default_factory=dict)
    below: Sequence[Op] = ()
    detail: str | None = None
    codegen_id: int | None = None


def op(name: str, *below: Op, stages: Sequence[int] = (), detail: str | None = None, **counted: float) -> Op:
    """`rows=10` and the like are metrics; `_` in their names is a space."""
    named = {"rows": "number of output rows", "written": "shuffle records written"}
    metrics = {named.get(name, name.replace("_", " ")): value for name, value in counted.items()}
    return Op(name, stages, metrics, below, detail)


def run_with(
    *plans: Op,
    stage_ms: Mapping[int, float] | None = None,
    conf: Mapping[str, str] | None = None,
    tasks: int = 4,
    sql: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> Run:
    """An application of 100 s with one SQL execution per plan, whose stages (ms of wall time by id, four tasks each on
    four cores) run one after the other."""
    stage_ms = stage_ms or {}
    nodes: list[dict[str, Any]] = []
    metrics: list[dict[str, Any]] = []
    of_stage: dict[int, int] = {}
    for execution, root in enumerate(plans):
        _rows(execution, root, None, nodes, metrics, of_stage)
    executions = [
        {
            "sql_execution_id": execution,
            "description": f"query {execution}",
            "started_ms": execution,
            "ended_ms": 90_000,
            "status": "succeeded",
            **(sql[execution] if execution < len(sql) else {}),
        }
        for execution in range(len(plans))
    ]
    stages, rows, at_ms = [], [], 1_000.0
    for stage_id, length_ms in stage_ms.items():
        stages.append(
            stage(stage_id, at_ms, at_ms + length_ms, sql_execution_id=of_stage.get(stage_id), job_id=stage_id)
        )
        rows += [task(stage_id, at_ms, length_ms, task_id=stage_id * 100 + i, executor_id=str(i)) for i in range(tasks)]
        at_ms += length_ms
    jobs = [
        job(s["stage_id"], s["submitted_ms"], s["completed_ms"])
        | {"sql_execution_id": s["sql_execution_id"], "call_site": "collect at job.py:7", "stage_ids": [s["stage_id"]]}
        for s in stages
    ]
    return run_of(
        more.pop("length_ms", 100_000),
        conf,
        tasks=rows,
        stages=stages,
        jobs=jobs,
        executors=[executor(str(i), 1) for i in range(4)],
        sql_executions=executions,
        plan_nodes=nodes,
        plan_metrics=metrics,
        **more,
    )


def _rows(
    execution: int,
    operator: Op,
    parent: int | None,
    nodes: list[dict[str, Any]],
    metrics: list[dict[str, Any]],
    of_stage: dict[int, int],
) -> None:
    node_id = sum(1 for row in nodes if row["sql_execution_id"] == execution)
    nodes.append(
        {
            "sql_execution_id": execution,
            "node_id": node_id,
            "parent_node_id": parent,
            "name": operator.name,
            "detail": operator.detail or operator.name,
            "codegen_id": operator.codegen_id,
            "stage_ids": list(operator.stages),
        }
    )
    for name, value in operator.counted.items():
        kind = "timing" if "time" in name or name == "duration" else "size" if "size" in name else "sum"
        metrics.append(
            {
                "sql_execution_id": execution,
                "node_id": node_id,
                "accumulator_id": len(metrics),
                "name": name,
                "metric_type": kind,
                "value": value,
                "last_attempt_value": value,
            }
        )
    of_stage.update(dict.fromkeys(operator.stages, execution))
    for below in operator.below:
        _rows(execution, below, node_id, nodes, metrics, of_stage)


def without_floors(rule: Rule[Any]) -> Rule[Any]:
    """The rule as it judges logs that are too short for it to say a word."""
    floors = {field.name: 0 for field in fields(rule.limits) if field.name.startswith(("floor", "least_app"))}
    return structs.replace(rule, limits=structs.replace(rule.limits, **floors))
