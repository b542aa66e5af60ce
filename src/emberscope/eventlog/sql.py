"""SQL executions: their last plan, its operators and what the operators counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
from msgspec.structs import replace

from emberscope.eventlog.accumulables import AccumulableColumns, StageValue
from emberscope.eventlog.conf import Settings
from emberscope.eventlog.events import (
    NO_RAW,
    SqlAdaptiveMetrics,
    SqlAdaptiveUpdate,
    SqlDriverUpdates,
    SqlExecutionEnd,
    SqlExecutionStart,
    SqlMetric,
)
from emberscope.eventlog.plan import PlanNode, plan_nodes
from emberscope.eventlog.shallow import DEEPER_NODE
from emberscope.eventlog.sql_retries import RepeatedTasks
from emberscope.eventlog.sql_totals import totals
from emberscope.redact import Redactor, shorten
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS

# A total over tasks of an average says nothing: only Spark's per-task values would.
_NO_TOTAL: Final = "average"


MetricRow = tuple[int, int | None, int, str, str | None, int | None, int | None, list[int]]
_NODE_COLUMNS: Final = (
    *("sql_execution_id", "node_id", "parent_node_id", "name", "detail", "codegen_id", "stage_ids"),
)
_METRIC_COLUMNS: Final = (
    "sql_execution_id",
    "node_id",
    "accumulator_id",
    "name",
    "metric_type",
    "value",
    "last_attempt_value",
    "stage_ids",
)


@dataclass(slots=True)
class _Execution:
    start: SqlExecutionStart | None = None
    end: SqlExecutionEnd | None = None
    plan_text: str | None = None
    plan: bytes = b""
    nodes: tuple[PlanNode, ...] = ()
    updates: int = 0
    extra_metrics: list[SqlMetric] = field(default_factory=list)


class SqlColumns:
    """Collects the SQL events; what the operators counted comes from the accumulators of completed stages."""

    def __init__(
        self, redactor: Redactor, settings: Settings, accumulables: AccumulableColumns, repeated: RepeatedTasks
    ) -> None:
        self._redactor = redactor
        self._accumulables = accumulables
        self._repeated = repeated
        self._settings = settings
        self._executions: dict[int, _Execution] = {}
        self._named: set[int] = set()
        self._cut_plans = 0
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
        execution.updates += 1
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

    def _execution(self, execution_id: int) -> _Execution:
        return self._executions.setdefault(execution_id, _Execution())

    def _own_values(self, execution_id: int, metric: SqlMetric) -> list[StageValue]:
        """Values at the end of the stages of this execution: a cached plan shows what others counted too."""
        of_stage = self._execution_of_stage
        values = self._accumulables.of(metric.accumulator_id)
        return [value for value in values if of_stage.get(value.stage_id) in (execution_id, None)]

    def _stages_of(self, execution_id: int, metrics: tuple[SqlMetric, ...]) -> list[int]:
        return sorted({value.stage_id for metric in metrics for value in self._own_values(execution_id, metric)})

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
                detail = self._redactor.text(node.detail)
                nodes.append((execution_id, node.node_id, node.parent_id, node.name, detail, node.codegen_id, stages))
                for metric in node.metrics:
                    shown.add(metric.accumulator_id)
                    metrics.append(self._metric_row(execution_id, node.node_id, metric, node.cached))
            metrics.extend(
                self._metric_row(execution_id, None, metric, False)
                for metric in execution.extra_metrics
                if metric.accumulator_id not in shown
            )
            self._named |= shown
            self._cut_plans += any(node.name == DEEPER_NODE for node in execution.nodes)
            execution.nodes = ()  # there may be many
        return {
            "sql_executions": SQL_EXECUTIONS.from_rows(executions),
            "plan_nodes": PLAN_NODES.from_columns(_columns(_NODE_COLUMNS, nodes)),
            "plan_metrics": PLAN_METRICS.from_columns(_columns(_METRIC_COLUMNS, metrics)),
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
            "plan_updates": execution.updates,
            "job_group": self._redactor.text(start.job_group),
            "job_tags": start.job_tags,
            "query_id": end.query_id if end else None,
            "started_ms": start.time_ms,
            "ended_ms": end.time_ms if end else None,
            "status": status,
            "error_message": self._redactor.text(shorten(error)) or None,
        }

    def _metric_row(self, execution_id: int, node_id: int | None, metric: SqlMetric, cached: bool) -> MetricRow:
        by_tasks = by_last = None
        if metric.metric_type != _NO_TOTAL:
            values = self._accumulables.of(metric.accumulator_id)
            own = self._own_values(execution_id, metric)
            by_tasks, by_last = totals(metric.accumulator_id, values, own, self._repeated, cached)
        by_driver = self._driver_totals.get((execution_id, metric.accumulator_id))
        if metric.metric_type == _NO_TOTAL:
            by_driver = None
        return (
            execution_id,
            node_id,
            metric.accumulator_id,
            metric.name,
            metric.metric_type,
            _together(by_tasks, by_driver),
            _together(by_last, by_driver),
            self._stages_of(execution_id, (metric,)),
        )

    def cut_plans(self) -> int:
        """How many last plans are nested so deeply that some of their operators were cut off. Known after `tables`."""
        return self._cut_plans

    def accumulators(self) -> set[int]:
        """All accumulators that the plans name. Known once `tables` is done."""
        return self._named


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}


def _together(by_tasks: int | None, by_driver: int | None) -> int | None:
    known = [part for part in (by_tasks, by_driver) if part is not None]
    return sum(known) if known and abs(sum(known)) < 2**63 else None
