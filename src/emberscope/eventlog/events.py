"""The fields of Spark's listener events that are read, as typed records; all else on a line is skipped unread.

A field that some Spark version lacks has a default: None, or `ABSENT` among the many integers of a task, where None
would cost time.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import msgspec
from msgspec import Raw, Struct, field

from emberscope.eventlog.shallow import shallow

ABSENT: Final = -(2**63)
"""Stands for "this log has no such value" in integers of task events."""

# The bounds are those of the tables' columns: a number that does not fit makes its line malformed, here and not later.
Int = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Id = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]


NO_RAW: Final = Raw(b"")
"""Stands for a part that is kept as it is written, where the log has no such part."""


class Record(Struct, frozen=True, gc=False):
    """Base of all: nothing here can be part of a reference cycle, so the collector need not look."""


class Named(Record, frozen=True):
    """Any event: its name, and proof that the line is whole."""

    event: str = field(name="Event")


# ---- tasks -----------------------------------------------------------------------------------------------------------
# The integers of these records become columns in the order in which they stand here (tasks.py).


class TaskInfo(Record, frozen=True):
    task_id: Int = field(name="Task ID")
    task_index: Id = field(name="Index", default=ABSENT)
    attempt: Id = field(name="Attempt", default=ABSENT)
    partition: Id = field(name="Partition ID", default=ABSENT)
    launch_ms: Int = field(name="Launch Time", default=ABSENT)
    finish_ms: Int = field(name="Finish Time", default=ABSENT)
    getting_result_ms: Int = field(name="Getting Result Time", default=ABSENT)
    speculative: bool = field(name="Speculative", default=False)
    executor_id: str | None = field(name="Executor ID", default=None)
    host: str | None = field(name="Host", default=None)
    locality: str | None = field(name="Locality", default=None)


class InputMetrics(Record, frozen=True):
    input_bytes: Int = field(name="Bytes Read", default=ABSENT)
    input_records: Int = field(name="Records Read", default=ABSENT)


class OutputMetrics(Record, frozen=True):
    output_bytes: Int = field(name="Bytes Written", default=ABSENT)
    output_records: Int = field(name="Records Written", default=ABSENT)


class ShuffleReadMetrics(Record, frozen=True):
    shuffle_read_local_bytes: Int = field(name="Local Bytes Read", default=ABSENT)
    shuffle_read_remote_bytes: Int = field(name="Remote Bytes Read", default=ABSENT)
    shuffle_read_remote_to_disk_bytes: Int = field(name="Remote Bytes Read To Disk", default=ABSENT)
    shuffle_read_records: Int = field(name="Total Records Read", default=ABSENT)
    shuffle_read_local_blocks: Int = field(name="Local Blocks Fetched", default=ABSENT)
    shuffle_read_remote_blocks: Int = field(name="Remote Blocks Fetched", default=ABSENT)
    shuffle_fetch_wait_ms: Int = field(name="Fetch Wait Time", default=ABSENT)


class ShuffleWriteMetrics(Record, frozen=True):
    shuffle_write_bytes: Int = field(name="Shuffle Bytes Written", default=ABSENT)
    shuffle_write_records: Int = field(name="Shuffle Records Written", default=ABSENT)
    shuffle_write_time_ns: Int = field(name="Shuffle Write Time", default=ABSENT)


class TaskMetrics(Record, frozen=True):
    executor_run_time_ms: Int = field(name="Executor Run Time", default=ABSENT)
    executor_cpu_time_ns: Int = field(name="Executor CPU Time", default=ABSENT)
    executor_deserialize_time_ms: Int = field(name="Executor Deserialize Time", default=ABSENT)
    executor_deserialize_cpu_time_ns: Int = field(name="Executor Deserialize CPU Time", default=ABSENT)
    result_serialization_time_ms: Int = field(name="Result Serialization Time", default=ABSENT)
    result_size_bytes: Int = field(name="Result Size", default=ABSENT)
    gc_time_ms: Int = field(name="JVM GC Time", default=ABSENT)
    peak_execution_memory_bytes: Int = field(name="Peak Execution Memory", default=ABSENT)
    memory_spilled_bytes: Int = field(name="Memory Bytes Spilled", default=ABSENT)
    disk_spilled_bytes: Int = field(name="Disk Bytes Spilled", default=ABSENT)
    input: InputMetrics = field(name="Input Metrics", default=InputMetrics())
    output: OutputMetrics = field(name="Output Metrics", default=OutputMetrics())
    shuffle_read: ShuffleReadMetrics = field(name="Shuffle Read Metrics", default=ShuffleReadMetrics())
    shuffle_write: ShuffleWriteMetrics = field(name="Shuffle Write Metrics", default=ShuffleWriteMetrics())


class PeakMetrics(Record, frozen=True):
    peak_jvm_heap_bytes: Int = field(name="JVMHeapMemory", default=ABSENT)


class EndReason(Record, frozen=True):
    reason: str = field(name="Reason")
    class_name: str | None = field(name="Class Name", default=None)
    description: str | None = field(name="Description", default=None)
    loss_reason: str | None = field(name="Loss Reason", default=None)
    kill_reason: str | None = field(name="Kill Reason", default=None)
    message: str | None = field(name="Message", default=None)


class TaskEnd(Record, frozen=True):
    reason: EndReason = field(name="Task End Reason")
    info: TaskInfo = field(name="Task Info")
    stage_id: Id = field(name="Stage ID")
    stage_attempt: Id = field(name="Stage Attempt ID", default=0)
    metrics: TaskMetrics | None = field(name="Task Metrics", default=None)
    peaks: PeakMetrics = field(name="Task Executor Metrics", default=PeakMetrics())


class TaskStart(Record, frozen=True):
    info: TaskInfo = field(name="Task Info")
    stage_id: Id = field(name="Stage ID")
    stage_attempt: Id = field(name="Stage Attempt ID", default=0)


# ---- jobs and stages -------------------------------------------------------------------------------------------------


class Properties(Record, frozen=True):
    sql_execution_id: str | None = field(name="spark.sql.execution.id", default=None)
    job_group: str | None = field(name="spark.jobGroup.id", default=None)
    description: str | None = field(name="spark.job.description", default=None)
    call_site: str | None = field(name="callSite.short", default=None)
    details: str | None = field(name="callSite.long", default=None)
    tags: str | None = field(name="spark.job.tags", default=None)
    pool: str | None = field(name="spark.scheduler.pool", default=None)
    streaming_query_id: str | None = field(name="sql.streaming.queryId", default=None)
    streaming_batch_id: str | None = field(name="streaming.sql.batchId", default=None)


class StorageLevel(Record, frozen=True):
    disk: bool = field(name="Use Disk", default=False)
    memory: bool = field(name="Use Memory", default=False)
    off_heap: bool = field(name="Use Off Heap", default=False)
    deserialized: bool = field(name="Deserialized", default=False)
    replication: int = field(name="Replication", default=1)

    def words(self) -> str:
        """As Spark's own page has it."""
        memory = ("Memory (off heap) " if self.off_heap else "Memory ") if self.memory else ""
        form = "Deserialized" if self.deserialized else "Serialized"
        return f"{'Disk ' if self.disk else ''}{memory}{form} {self.replication}x Replicated"


class RddInfo(Record, frozen=True):
    rdd_id: Id | None = field(name="RDD ID", default=None)
    name: str | None = field(name="Name", default=None)
    scope: str | None = field(name="Scope", default=None)
    call_site: str | None = field(name="Callsite", default=None)
    level: StorageLevel = field(name="Storage Level", default=StorageLevel())
    barrier: bool | None = field(name="Barrier", default=None)
    partition_count: Id | None = field(name="Number of Partitions", default=None)
    cached_partitions: Id | None = field(name="Number of Cached Partitions", default=None)
    memory_bytes: Int | None = field(name="Memory Size", default=None)
    disk_bytes: Int | None = field(name="Disk Size", default=None)


class RddScope(Record, frozen=True):
    name: str = ""
    parent: RddScope | None = None


class Accumulable(Record, frozen=True):
    id: Int = field(name="ID")
    name: str | None = field(name="Name", default=None)
    value: Raw = field(name="Value", default=NO_RAW)
    metadata: str | None = field(name="Metadata", default=None)


class StageInfo(Record, frozen=True):
    stage_id: Id = field(name="Stage ID")
    stage_attempt: Id = field(name="Stage Attempt ID", default=0)
    name: str | None = field(name="Stage Name", default=None)
    task_count: Id | None = field(name="Number of Tasks", default=None)
    rdds: Raw = field(name="RDD Info", default=NO_RAW)
    parent_ids: list[Id] | None = field(name="Parent IDs", default=None)
    details: str | None = field(name="Details", default=None)
    submitted_ms: Int | None = field(name="Submission Time", default=None)
    completed_ms: Int | None = field(name="Completion Time", default=None)
    failure_reason: str | None = field(name="Failure Reason", default=None)
    accumulables: list[Accumulable] = field(name="Accumulables", default=[])
    resource_profile_id: Id | None = field(name="Resource Profile Id", default=None)


class StageSubmitted(Record, frozen=True):
    stage: StageInfo = field(name="Stage Info")
    properties: Properties | None = field(name="Properties", default=None)


class StageCompleted(Record, frozen=True):
    stage: StageInfo = field(name="Stage Info")


class JobStart(Record, frozen=True):
    job_id: Id = field(name="Job ID")
    submitted_ms: Int | None = field(name="Submission Time", default=None)
    stages: list[StageInfo] = field(name="Stage Infos", default=[])
    stage_ids: list[Id] | None = field(name="Stage IDs", default=None)
    properties: Properties | None = field(name="Properties", default=None)


class JobException(Record, frozen=True):
    message: str | None = field(name="Message", default=None)


class JobResult(Record, frozen=True):
    result: str | None = field(name="Result", default=None)
    exception: JobException | None = field(name="Exception", default=None)


class JobEnd(Record, frozen=True):
    job_id: Id = field(name="Job ID")
    completed_ms: Int | None = field(name="Completion Time", default=None)
    result: JobResult = field(name="Job Result", default=JobResult())


# ---- application -----------------------------------------------------------------------------------------------------


class LogStart(Record, frozen=True):
    """Spark's first line, and Databricks' own (`DBCEventLoggingListenerMetadata`)."""

    spark_version: str | None = field(name="Spark Version", default=None)


class ApplicationStart(Record, frozen=True):
    name: str | None = field(name="App Name", default=None)
    app_id: str | None = field(name="App ID", default=None)
    time_ms: Int | None = field(name="Timestamp", default=None)
    user: str | None = field(name="User", default=None)
    attempt: str | None = field(name="App Attempt ID", default=None)


class ApplicationEnd(Record, frozen=True):
    time_ms: Int | None = field(name="Timestamp", default=None)


class EnvironmentUpdate(Record, frozen=True):
    jvm: dict[str, str] = field(name="JVM Information", default={})
    spark: dict[str, str] = field(name="Spark Properties", default={})
    hadoop: dict[str, str] = field(name="Hadoop Properties", default={})
    system: dict[str, str] = field(name="System Properties", default={})


# ---- SQL -------------------------------------------------------------------------------------------------------------


class SqlExecutionStart(Record, frozen=True):
    execution_id: Int = field(name="executionId")
    root_execution_id: Int | None = field(name="rootExecutionId", default=None)
    description: str | None = None
    details: str | None = None
    plan_text: str | None = field(name="physicalPlanDescription", default=None)
    plan: Raw = field(name="sparkPlanInfo", default=NO_RAW)
    time_ms: Int | None = field(name="time", default=None)
    modified_configs: dict[str, str] | None = field(name="modifiedConfigs", default=None)
    job_group: str | None = field(name="jobGroupId", default=None)
    job_tags: list[str] | None = field(name="jobTags", default=None)


class SqlAdaptiveUpdate(Record, frozen=True):
    execution_id: Int = field(name="executionId")
    plan_text: str | None = field(name="physicalPlanDescription", default=None)
    plan: Raw = field(name="sparkPlanInfo", default=NO_RAW)


class SqlMetric(Record, frozen=True):
    accumulator_id: Int = field(name="accumulatorId")
    name: str = ""
    metric_type: str | None = field(name="metricType", default=None)


class SqlAdaptiveMetrics(Record, frozen=True):
    execution_id: Int = field(name="executionId")
    metrics: list[SqlMetric] = field(name="sqlPlanMetrics", default=[])


class SqlDriverUpdates(Record, frozen=True):
    execution_id: Int = field(name="executionId")
    updates: list[tuple[Int, Int]] = field(name="accumUpdates", default=[])


class SqlExecutionEnd(Record, frozen=True):
    execution_id: Int = field(name="executionId")
    time_ms: Int | None = field(name="time", default=None)
    error_message: str | None = field(name="errorMessage", default=None)
    query_id: str | None = field(name="queryId", default=None)


# Any escape, so that `\\ud800`, a backslash and letters, is none of a surrogate.
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][\da-fA-F]{2})|\\."
)


def decode(decoder: msgspec.json.Decoder[Any], line: bytes) -> Any:
    """The record on a line; where a value has another type than Spark's own, a second and lenient reading.

    Lenient: null counts as absent, 3.0 and "3" as the integer 3, and bytes that are no UTF-8 (Spark 2 on a driver with
    another default charset) and half a surrogate pair (a text that was cut) as the replacement character. What is
    nested too deeply is cut (`shallow`). Raises `msgspec.MsgspecError` where the line is malformed.
    """
    try:
        return decoder.decode(line)
    except RecursionError:
        return _leniently(decoder, shallow(line))
    except (msgspec.DecodeError, UnicodeDecodeError):
        try:
            return _leniently(decoder, line)
        except RecursionError:
            return _leniently(decoder, shallow(line))


def _leniently(decoder: msgspec.json.Decoder[Any], line: bytes) -> Any:
    tree = msgspec.json.decode(_ESCAPE.sub(_whole, line.decode("utf-8", errors="replace")))
    return msgspec.json.decode(msgspec.json.encode(_plain(tree)), type=decoder.type, strict=False)


def _whole(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["half"] else escape[0]


def _plain(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items() if value is not None}
    if isinstance(tree, list):
        return [_plain(value) for value in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree
