"""SQL executions: their last plan, its operators and what the operators counted."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from emberscope.eventlog.accumulables import AccumulableColumns, StageValue
from emberscope.eventlog.conf import Settings
from emberscope.eventlog.events import (
    SqlAdaptiveMetrics,
    SqlAdaptiveUpdate,
    SqlDriverUpdates,
    SqlExecutionEnd,
    SqlExecutionStart,
    SqlMetric,
)
from emberscope.eventlog.places import Numbers
from emberscope.eventlog.plan import PlanNode, plan_nodes
from emberscope.eventlog.rows import Files, Kept, Packing
from emberscope.eventlog.shallow import DEEPER_NODE
from emberscope.eventlog.sql_retries import RepeatedTasks
from emberscope.eventlog.sql_totals import totals
from emberscope.redact import Redactor, shorten
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A total over tasks of an average says nothing: only Spark's per-task values would.
_NO_TOTAL: Final = "average"

NodeRow = tuple[int, int, int | None, str, str | None, int | None, list[int]]
Values = tuple[list[StageValue], list[StageValue]]
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


# Rows of plans and metrics that are made at a time, where tables are passed on in parts.
PART_ROWS: Final = 1 << 15
_PART_BYTES: Final = 8 << 20


class _Execution(msgspec.Struct, array_like=True):
    """What is known of one execution; `plan` is the last one while it may be replaced, then `last_plan`."""

    started: bool = False
    ended: bool = False
    root_execution_id: int | None = None
    description: str | None = None
    details: str | None = None
    job_group: str | None = None
    job_tags: list[str] | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    query_id: str | None = None
    error_message: str | None = None
    plan_text: str | None = None
    plan: bytes = b""
    last_plan: bytes = b""
    updates: int = 0
    extra_metrics: list[SqlMetric] = []
    driver_totals: dict[int, int] = {}
    nodes: tuple[PlanNode, ...] = ()


class SqlColumns:
    """Collects the SQL events; what the operators counted comes from the accumulators of completed stages.

    With `files` most of it lies there, and tables come in parts; with `facts_only` no more is kept than when and how
    an execution ended.
    """

    def __init__(
        self,
        redactor: Redactor,
        settings: Settings,
        accumulables: AccumulableColumns,
        repeated: RepeatedTasks,
        files: Files | None = None,
        *,
        facts_only: bool = False,
    ) -> None:
        self._redactor = redactor
        self._accumulables = accumulables
        self._repeated = repeated
        self._settings = settings
        self._facts_only = facts_only
        self._in_parts = files is not None
        packing = Packing(_Execution, msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(_Execution).decode)
        self._executions = Kept(packing, files and files())
        self._named = array("q")
        self._cut_plans = 0
        self._execution_of_stage = Numbers()

    def start(self, event: SqlExecutionStart) -> None:
        execution = self._executions.of(event.execution_id, weight=len(bytes(event.plan)) + len(event.plan_text or ""))
        execution.started = True
        execution.started_ms = event.time_ms
        description, details, job_group = map(self._redactor.text, (event.description, event.details, event.job_group))
        if event.modified_configs:
            self._settings.add_sql(event.execution_id, event.modified_configs)
        if self._facts_only:
            return
        execution.description, execution.details, execution.job_group = description, details, job_group
        execution.job_tags = self._redactor.texts(event.job_tags)
        execution.root_execution_id = event.root_execution_id
        if not execution.plan:
            execution.plan_text, execution.plan = event.plan_text, bytes(event.plan)

    def update(self, event: SqlAdaptiveUpdate) -> None:
        execution = self._executions.of(event.execution_id, weight=len(bytes(event.plan)) + len(event.plan_text or ""))
        execution.updates += 1
        execution.plan_text, execution.plan = event.plan_text, bytes(event.plan)

    def more_metrics(self, event: SqlAdaptiveMetrics) -> None:
        self._executions.of(event.execution_id).extra_metrics.extend(event.metrics)

    def driver_updates(self, event: SqlDriverUpdates) -> None:
        totals = self._executions.of(event.execution_id).driver_totals
        for accumulator_id, value in event.updates:
            totals[accumulator_id] = totals.get(accumulator_id, 0) + value

    def end(self, event: SqlExecutionEnd) -> None:
        execution = self._executions.of(event.execution_id)
        execution.ended = True
        execution.ended_ms, execution.query_id = event.time_ms, event.query_id
        execution.error_message = shorten(event.error_message)
        if execution.plan and self._in_parts:
            execution.last_plan, execution.plan = execution.plan, b""
        elif execution.plan:
            # Plans are long as text and short as operators.
            execution.nodes, execution.plan = plan_nodes(execution.plan), b""

    def tables(self, failed_in_job: Set[int], execution_of_stage: Numbers) -> Iterator[tuple[str, pa.Table]]:
        """Tables `sql_executions`, `plan_nodes` and `plan_metrics`; with files in parts.

        `failed_in_job` are the executions of which a job failed: before Spark 3.4 nothing else tells failure.
        """
        self._execution_of_stage = execution_of_stage
        executions: list[dict[str, object]] = []
        nodes: list[NodeRow] = []
        metrics: list[MetricRow] = []
        texts = 0
        for execution_id in self._executions.pairs()[0].tolist():
            execution = self._executions.take(execution_id)
            if not execution.started:
                continue
            executions.append(self._execution_row(execution_id, execution, execution_id in failed_in_job))
            if not self._facts_only:
                self._operators(execution_id, execution, nodes, metrics)
            texts += len(execution.plan_text or "")
            if self._in_parts and (len(executions) + len(nodes) + len(metrics) >= PART_ROWS or texts >= _PART_BYTES):
                yield from _tables(executions, nodes, metrics)
                executions, nodes, metrics, texts = [], [], [], 0
        yield from _tables(executions, nodes, metrics)

    def _operators(
        self, execution_id: int, execution: _Execution, nodes: list[NodeRow], metrics: list[MetricRow]
    ) -> None:
        """Adds the rows of the operators of an execution, and of their metrics."""
        operators = plan_nodes(plan) if (plan := execution.plan or execution.last_plan) else execution.nodes
        values: dict[int, Values] = {}
        for node in operators:
            stages = self._stages_of(execution_id, node.metrics, values)
            if not stages and node.codegen_node is not None:
                # An operator without a metric of its own ran where its generated code ran.
                stages = self._stages_of(execution_id, operators[node.codegen_node].metrics, values)
            # A scan over JDBC has its query in its name.
            name, detail = self._redactor.text(node.name) or "", self._redactor.text(node.detail)
            nodes.append((execution_id, node.node_id, node.parent_id, name, detail, node.codegen_id, stages))
            for metric in node.metrics:
                of = values[metric.accumulator_id]
                metrics.append(self._metric_row(execution_id, execution, node.node_id, metric, of, node.cached))
        shown = set(values)
        for metric in execution.extra_metrics:
            if metric.accumulator_id not in shown:
                of = self._values(execution_id, metric.accumulator_id, values)
                metrics.append(self._metric_row(execution_id, execution, None, metric, of, False))
        self._named.extend(shown)
        self._cut_plans += any(node.name == DEEPER_NODE for node in operators)
        execution.nodes = ()  # there may be many

    def _execution_row(self, execution_id: int, execution: _Execution, job_failed: bool) -> dict[str, object]:
        error = execution.error_message
        if not execution.ended:
            status = "unfinished"
        elif error is None:
            status = "failed" if job_failed else "succeeded"
        else:
            status = "failed" if error else "succeeded"
        return {
            "sql_execution_id": execution_id,
            "root_execution_id": execution.root_execution_id,
            "description": execution.description,
            "details": execution.details,
            "physical_plan": self._redactor.text(execution.plan_text),
            "plan_updates": execution.updates,
            "job_group": execution.job_group,
            "job_tags": execution.job_tags,
            "query_id": execution.query_id,
            "started_ms": execution.started_ms,
            "ended_ms": execution.ended_ms,
            "status": status,
            "error_message": self._redactor.text(error) or None,
        }

    def _values(self, execution_id: int, accumulator_id: int, known: dict[int, Values]) -> Values:
        """What an accumulator counted, and what of it counts for this execution.

        That is at the end of its own stages: a cached plan shows what others counted too.
        """
        found = known.get(accumulator_id)
        if found is None:
            every = self._accumulables.of(accumulator_id)
            stage = self._execution_of_stage.get
            found = known[accumulator_id] = (every, [v for v in every if stage(v.stage_id) in (execution_id, None)])
        return found

    def _stages_of(self, execution_id: int, metrics: tuple[SqlMetric, ...], known: dict[int, Values]) -> list[int]:
        return _stages([self._values(execution_id, metric.accumulator_id, known)[1] for metric in metrics])

    def _metric_row(
        self,
        execution_id: int,
        execution: _Execution,
        node_id: int | None,
        metric: SqlMetric,
        values: Values,
        cached: bool,
    ) -> MetricRow:
        by_tasks = by_last = by_driver = None
        every, own = values
        if metric.metric_type != _NO_TOTAL:
            by_tasks, by_last = totals(metric.accumulator_id, every, own, self._repeated, cached)
            by_driver = execution.driver_totals.get(metric.accumulator_id)
        return (
            execution_id,
            node_id,
            metric.accumulator_id,
            self._redactor.text(metric.name) or "",
            metric.metric_type,
            _together(by_tasks, by_driver),
            _together(by_last, by_driver),
            _stages([own]),
        )

    def cut_plans(self) -> int:
        """How many last plans are nested so deeply that some of their operators were cut off. Known after `tables`."""
        return self._cut_plans

    def accumulators(self) -> NDArray[np.int64]:
        """All accumulators that the plans name. Known once `tables` is done."""
        return np.unique(np.array(self._named, dtype=np.int64))


def _tables(
    executions: list[dict[str, object]], nodes: list[NodeRow], metrics: list[MetricRow]
) -> Iterator[tuple[str, pa.Table]]:
    yield "sql_executions", SQL_EXECUTIONS.from_rows(executions)
    yield "plan_nodes", PLAN_NODES.from_columns(_columns(_NODE_COLUMNS, nodes))
    yield "plan_metrics", PLAN_METRICS.from_columns(_columns(_METRIC_COLUMNS, metrics))


def _stages(values: Sequence[Sequence[StageValue]]) -> list[int]:
    return sorted({value.stage_id for several in values for value in several})


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}


def _together(by_tasks: int | None, by_driver: int | None) -> int | None:
    known = [part for part in (by_tasks, by_driver) if part is not None]
    return sum(known) if known and abs(sum(known)) < 2**63 else None
