"""SQL executions: their last plan, its operators and what the operators counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from emberscope.eventlog.conf import Settings
from emberscope.eventlog.events import (
    NO_RAW,
    Accumulable,
    SqlAdaptiveMetrics,
    SqlAdaptiveUpdate,
    SqlDriverUpdates,
    SqlExecutionEnd,
    SqlExecutionStart,
    SqlMetric,
)
from emberscope.eventlog.plan import PlanNode, plan_nodes
from emberscope.redact import Redactor, shorten
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS

# A total over tasks of an average says nothing: only Spark's per-task values would.
_NO_TOTAL: Final = "average"


@dataclass(slots=True)
class _Execution:
    start: SqlExecutionStart | None = None
    end: SqlExecutionEnd | None = None
    plan_text: str | None = None
    plan: bytes = b""
    nodes: tuple[PlanNode, ...] = ()
    extra_metrics: list[SqlMetric] = field(default_factory=list)


class SqlColumns:
    """Collects the SQL events and the accumulators of completed stages."""

    def __init__(self, redactor: Redactor, settings: Settings) -> None:
        self._redactor = redactor
        self._settings = settings
        self._executions: dict[int, _Execution] = {}
        self._task_totals: dict[int, dict[int, int | None]] = {}
        self._driver_totals: dict[tuple[int, int], int] = {}
        self._execution_of_stage: Mapping[int, int | None] = {}

    def start(self, event: SqlExecutionStart) -> None:
        execution = self._execution(event.execution_id)
        # The plan is kept apart, so that it can go when a later one replaces it.
        execution.start = replace(event, plan=NO_RAW, plan_text=None)
        if not execution.plan:
            execution.plan_text, execution.plan = event.plan_text, bytes(event.plan)
        if event.modified_configs:
            self._settings.add_sql(event.execution_id, event.modified_configs)

    def update(self, event: SqlAdaptiveUpdate) -> None:
        execution = self._execution(event.execution_id)
        execution.plan_text, execution.plan = event.plan_text, bytes(event.plan)

    def more_metrics(self, event: SqlAdaptiveMetrics) -> None:
        self._execution(event.execution_id).extra_metrics.extend(event.metrics)

    def driver_updates(self, event: SqlDriverUpdates) -> None:
        for accumulator_id, value in event.updates:
            key = (event.execution_id, accumulator_id)
            self._driver_totals[key] = self._driver_totals.get(key, 0) + value

    def end(self, event: SqlExecutionEnd) -> None:
        execution = self._execution(event.execution_id)
        execution.end = event
        # Plans are long as text and short as operators.
        execution.nodes = plan_nodes(execution.plan)
        execution.plan = b""

    def stage_values(self, stage_id: int, accumulables: list[Accumulable]) -> None:
        """Totals as of a stage's completion. An accumulator may serve several stages; its value only grows."""
        for accumulable in accumulables:
            if accumulable.metadata == "sql":
                value = _integer(bytes(accumulable.value))
                self._task_totals.setdefault(accumulable.id, {})[stage_id] = value

    def _execution(self, execution_id: int) -> _Execution:
        return self._executions.setdefault(execution_id, _Execution())

    def _own_totals(self, execution_id: int, metric: SqlMetric) -> dict[int, int | None]:
        """Totals by stage, of the stages of this execution: a cached plan shows what others counted too."""
        of_stage = self._execution_of_stage
        return {
            stage_id: value
            for stage_id, value in self._task_totals.get(metric.accumulator_id, {}).items()
            if of_stage.get(stage_id) in (execution_id, None)
        }

    def _total(self, execution_id: int, metric: SqlMetric) -> int | None:
        if metric.metric_type == _NO_TOTAL:
            return None
        by_tasks = [value for value in self._own_totals(execution_id, metric).values() if value is not None]
        by_driver = self._driver_totals.get((execution_id, metric.accumulator_id))
        known = [part for part in (max(by_tasks, default=None), by_driver) if part is not None]
        return sum(known) if known and abs(sum(known)) < 2**63 else None

    def _stages_of(self, execution_id: int, metrics: tuple[SqlMetric, ...]) -> list[int]:
        return sorted({stage_id for metric in metrics for stage_id in self._own_totals(execution_id, metric)})

    def tables(self, failed_in_job: set[int], execution_of_stage: Mapping[int, int | None]) -> dict[str, pa.Table]:
        """Tables `sql_executions`, `plan_nodes` and `plan_metrics`.

        `failed_in_job` are the executions of which a job failed: before Spark 3.4 nothing else tells failure.
        """
        self._execution_of_stage = execution_of_stage
        executions, nodes, metrics = [], [], []
        for execution_id, execution in self._executions.items():
            if execution.start is None:
                continue
            if execution.plan:
                execution.nodes = plan_nodes(execution.plan)
            executions.append(self._execution_row(execution_id, execution, execution_id in failed_in_job))
            shown = set()
            for node in execution.nodes:
                stages = self._stages_of(execution_id, node.metrics)
                if not stages and node.codegen_node is not None:
                    # An operator without a metric of its own ran where its generated code ran.
                    stages = self._stages_of(execution_id, execution.nodes[node.codegen_node].metrics)
                nodes.append(
                    {
                        "sql_execution_id": execution_id,
                        "node_id": node.node_id,
                        "parent_node_id": node.parent_id,
                        "name": node.name,
                        "detail": self._redactor.text(node.detail),
                        "codegen_id": node.codegen_id,
                        "stage_ids": stages,
                    }
                )
                for metric in node.metrics:
                    shown.add(metric.accumulator_id)
                    metrics.append(self._metric_row(execution_id, node.node_id, metric))
            metrics.extend(
                self._metric_row(execution_id, None, metric)
                for metric in execution.extra_metrics
                if metric.accumulator_id not in shown
            )
        return {
            "sql_executions": SQL_EXECUTIONS.from_rows(executions),
            "plan_nodes": PLAN_NODES.from_rows(nodes),
            "plan_metrics": PLAN_METRICS.from_rows(metrics),
        }

    def _execution_row(self, execution_id: int, execution: _Execution, job_failed: bool) -> dict[str, object]:
        start, end = execution.start, execution.end
        assert start is not None
        error = end.error_message if end else None
        if end is None:
            status = "unfinished"
        elif error is None:
            status = "failed" if job_failed else "succeeded"
        else:
            status = "failed" if error else "succeeded"
        return {
            "sql_execution_id": execution_id,
            "root_execution_id": start.root_execution_id,
            "description": self._redactor.text(start.description),
            "details": self._redactor.text(start.details),
            "physical_plan": self._redactor.text(execution.plan_text),
            "started_ms": start.time_ms,
            "ended_ms": end.time_ms if end else None,
            "status": status,
            "error_message": self._redactor.text(shorten(error)) or None,
        }

    def _metric_row(self, execution_id: int, node_id: int | None, metric: SqlMetric) -> dict[str, object]:
        return {
            "sql_execution_id": execution_id,
            "node_id": node_id,
            "accumulator_id": metric.accumulator_id,
            "name": metric.name,
            "metric_type": metric.metric_type,
            "value": self._total(execution_id, metric),
            "stage_ids": self._stages_of(execution_id, (metric,)),
        }


def _integer(raw: bytes) -> int | None:
    """The number of an accumulator as written: 12 or "12"; None for all else."""
    try:
        value = int(raw.strip(b'"'))
    except ValueError:
        return None
    return value if -(2**63) <= value < 2**63 else None
