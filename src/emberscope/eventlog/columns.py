"""All builders of tables beside that of tasks, and which event goes to which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from emberscope.eventlog import events, executor_metrics, executors, resource_profiles, sessions, storage, streaming
from emberscope.eventlog.accumulables import AccumulableColumns
from emberscope.eventlog.balance import Balance
from emberscope.eventlog.conf import Settings
from emberscope.eventlog.executor_metrics import ExecutorMetricColumns
from emberscope.eventlog.executors import EXCLUDED, UNEXCLUDED, ExecutorColumns
from emberscope.eventlog.resource_profiles import ResourceProfiles
from emberscope.eventlog.rows import Files
from emberscope.eventlog.sessions import SessionColumns
from emberscope.eventlog.sql import SqlColumns
from emberscope.eventlog.sql_retries import RepeatedTasks
from emberscope.eventlog.stages import StageColumns
from emberscope.eventlog.storage import StorageColumns
from emberscope.eventlog.streaming import StreamingColumns
from emberscope.redact import Redactor
from emberscope.tables.coverage import Note

FACTS_COLUMNS: Final = {
    "stages": [
        *("stage_id", "stage_attempt", "job_id", "sql_execution_id", "status", "task_count"),
        *("submitted_ms", "completed_ms"),
        "failure_reason",
    ],
    "jobs": ["job_id", "status", "stage_ids", "sql_execution_id", "submitted_ms", "completed_ms"],
    "executors": ["executor_id", "removed_ms"],
    "sql_executions": ["sql_execution_id", "status", "started_ms", "ended_ms"],
}
"""What the facts of a log and its coverage need of its tables."""

Routes = dict[str, tuple[type[msgspec.Struct], Callable[[Any], None] | None]]


class Columns:
    """Takes every event but ends and starts of tasks, in the order of the log.

    `repeated` must be given the TaskEnd lines of which `sql_retries.is_repeated` is true. With `facts_only` what the
    facts of a log do not need is checked and let go of: plans, accumulators, metrics of executors but their peaks.
    With `into` tables are passed on as soon as they can be, and with `files` what they are made of lies there.
    """

    def __init__(
        self,
        redactor: Redactor,
        into: Callable[[str, pa.Table], None] | None = None,
        files: Files | None = None,
        *,
        facts_only: bool = False,
    ) -> None:
        self._facts_only = facts_only
        keep = not facts_only
        self.settings = Settings(redactor, files, keep=keep)
        self.storage = StorageColumns(redactor)
        self.stages = StageColumns(redactor, self.storage, files, FACTS_COLUMNS if facts_only else {})
        self.accumulables = AccumulableColumns(redactor)
        self.repeated = RepeatedTasks()
        self.sql = SqlColumns(redactor, self.settings, self.accumulables, self.repeated, files, facts_only=facts_only)
        self.executors = ExecutorColumns(redactor)
        self.executor_metrics = ExecutorMetricColumns(
            self.executors.peak, lambda: self.stages.latest_ms, into and partial(into, "executor_metrics"), keep=keep
        )
        self.profiles = ResourceProfiles(redactor)
        self.streaming = StreamingColumns(redactor, into and partial(into, "streaming_batches"), keep=keep)
        self.sessions = SessionColumns(redactor, files, keep=keep)
        self.balance = Balance()

    def task_cores(self, stage_id: int) -> float:
        """How many cores each task of a stage has."""
        return self.profiles.task_cores(self.stages.resource_profile(stage_id))

    def routes(self) -> Routes:
        """The record and the handler of each event, by its name without its package."""
        return {
            "SparkListenerEnvironmentUpdate": (events.EnvironmentUpdate, self.settings.add),
            "SparkListenerJobStart": (events.JobStart, self.stages.job_start),
            "SparkListenerJobEnd": (events.JobEnd, self.stages.job_end),
            "SparkListenerStageSubmitted": (events.StageSubmitted, self._stage_submitted),
            "SparkListenerStageCompleted": (events.StageCompleted, self._stage_completed),
            "SparkListenerBlockUpdated": (storage.BlockUpdated, self.storage.updated),
            "SparkListenerUnpersistRDD": (storage.UnpersistRdd, self.storage.unpersisted),
            **self._executor_routes(),
            "SparkListenerSQLExecutionStart": (events.SqlExecutionStart, self.sql.start),
            "SparkListenerSQLExecutionEnd": (events.SqlExecutionEnd, self.sql.end),
            "SparkListenerSQLAdaptiveExecutionUpdate": (events.SqlAdaptiveUpdate, self.sql.update),
            "SparkListenerSQLAdaptiveSQLMetricUpdates": (events.SqlAdaptiveMetrics, self.sql.more_metrics),
            "SparkListenerDriverAccumUpdates": (events.SqlDriverUpdates, self.sql.driver_updates),
            "StreamingQueryListener$QueryStartedEvent": (streaming.QueryStarted, self.streaming.started),
            "StreamingQueryListener$QueryProgressEvent": (streaming.QueryProgress, self.streaming.progressed),
            "StreamingQueryListener$QueryTerminatedEvent": (streaming.QueryTerminated, self.streaming.terminated),
            **self._session_routes(),
            **(self._facts_routes() if self._facts_only else {}),
        }

    def _facts_routes(self) -> Routes:
        return {
            "SparkListenerSQLExecutionStart": (events.SqlExecutionStart, self._without_plan),
            "SparkListenerSQLAdaptiveExecutionUpdate": (events.SqlAdaptiveUpdate, None),
            "SparkListenerSQLAdaptiveSQLMetricUpdates": (events.SqlAdaptiveMetrics, None),
            "SparkListenerDriverAccumUpdates": (events.SqlDriverUpdates, None),
        }

    def _without_plan(self, event: events.SqlExecutionStart) -> None:
        self.sql.start(replace(event, plan=events.NO_RAW, plan_text=None))

    def _executor_routes(self) -> Routes:
        columns, metrics = self.executors, self.executor_metrics
        return {
            "SparkListenerExecutorAdded": (executors.ExecutorAdded, columns.added),
            "SparkListenerExecutorRemoved": (executors.ExecutorRemoved, self._executor_removed),
            "SparkListenerBlockManagerAdded": (executors.BlockManagerAdded, columns.block_manager),
            "SparkListenerBlockManagerRemoved": (executors.BlockManagerRemoved, columns.block_manager_removed),
            "SparkListenerMiscellaneousProcessAdded": (executors.ProcessAdded, columns.process_added),
            "SparkListenerResourceProfileAdded": (resource_profiles.ResourceProfileAdded, self.profiles.added),
            "SparkListenerStageExecutorMetrics": (executor_metrics.StageExecutorMetrics, metrics.stage_metrics),
            "SparkListenerExecutorMetricsUpdate": (executor_metrics.ExecutorMetricsUpdate, metrics.metrics_update),
            **{
                f"SparkListener{what}{how}": (executors.Exclusion, handler)
                for what in ("Executor", "Node")
                for hows, handler in ((EXCLUDED, columns.excluded), (UNEXCLUDED, columns.unexcluded))
                for how in hows
            },
        }

    def _session_routes(self) -> Routes:
        columns = self.sessions
        connect, thrift = sessions.ConnectOperation, sessions.ThriftOperation
        return {
            "SparkListenerConnectSessionStarted": (sessions.ConnectSession, columns.connect_started),
            "SparkListenerConnectSessionClosed": (sessions.ConnectSession, columns.connect_closed),
            "SparkListenerConnectOperationStarted": (connect, columns.operation_started),
            "SparkListenerConnectOperationAnalyzed": (connect, columns.operation_analyzed),
            "SparkListenerConnectOperationReadyForExecution": (connect, columns.operation_ready),
            "SparkListenerConnectOperationFinished": (connect, columns.operation_finished),
            "SparkListenerConnectOperationFailed": (connect, columns.operation_failed),
            "SparkListenerConnectOperationCanceled": (connect, columns.operation_canceled),
            "SparkListenerConnectOperationClosed": (connect, columns.operation_closed),
            "SparkListenerThriftServerSessionCreated": (sessions.ThriftSession, columns.thrift_created),
            "SparkListenerThriftServerSessionClosed": (sessions.ThriftSession, columns.thrift_closed),
            "SparkListenerThriftServerOperationStart": (thrift, columns.statement_started),
            "SparkListenerThriftServerOperationFinish": (thrift, columns.statement_finished),
            "SparkListenerThriftServerOperationError": (thrift, columns.statement_failed),
            "SparkListenerThriftServerOperationTimeout": (thrift, columns.statement_failed),
            "SparkListenerThriftServerOperationCanceled": (thrift, columns.statement_canceled),
            "SparkListenerThriftServerOperationClosed": (thrift, columns.statement_closed),
        }

    def _stage_submitted(self, event: events.StageSubmitted) -> None:
        self.stages.submitted(event)
        self.repeated.submitted(event.stage.stage_id, event.stage.stage_attempt)

    def _stage_completed(self, event: events.StageCompleted) -> None:
        stage = event.stage
        self.stages.completed(event)
        self.balance.stage_completed(event)
        if not self._facts_only:
            self.accumulables.completed(stage.stage_id, stage.stage_attempt, stage.accumulables)

    def _executor_removed(self, event: executors.ExecutorRemoved) -> None:
        self.executors.removed(event)
        self.storage.gone(event.executor_id)

    def notes(self) -> list[Note]:
        """What the tables lack of what the log holds. Known after `tables`."""
        plans = self.sql.cut_plans()
        if not plans:
            return []
        what = "plan is" if plans == 1 else "plans are"
        return [Note("limited", f"{plans:,} {what} nested so deeply that only the upper operators are in the tables.")]

    def tables(self, *, last: bool) -> Iterator[tuple[str, pa.Table]]:
        """All tables of these builders in parts, so that each can be let go of before the next is made.

        To be called at the end, when `executors.peak` knows those of tasks; `last` lets go of what was collected.
        """
        yield from self.stages.tables(last=last)
        yield from self.executors.tables().items()
        self.accumulables.close()
        yield from self.sql.tables(self.stages.failed_executions(), self.stages.execution_of_stage())
        yield from (("accumulables", part) for part in self.accumulables.tables(self.sql.accumulators()))
        yield "executor_metrics", self.executor_metrics.table()
        yield "resource_profiles", self.profiles.table()
        yield from self.storage.tables().items()
        yield from self.streaming.tables().items()
        yield from self.sessions.tables()
        yield from (("conf", part) for part in self.settings.tables())
