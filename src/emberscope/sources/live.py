"""The state of a running application, by its REST interface, as the events that an event log would have had of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO

from emberscope.sources import http
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run
from emberscope.units import counted

TABLES: Final = ("tasks", "running_tasks", "stages", "jobs", "executors", "sql_executions", "conf")
"""What the interface tells. Plan nodes and metrics it has as words for people, accumulators in part only."""

_NOT_TOLD: Final = ("rdd_names", "codegen_ids", "accumulator_ids")
_PAGE: Final = 1000
_SQL: Final = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
_MOST_PAGES: Final = 100_000

_METRICS: Final = {
    "executorRunTime": "Executor Run Time",
    "executorCpuTime": "Executor CPU Time",
    "executorDeserializeTime": "Executor Deserialize Time",
    "executorDeserializeCpuTime": "Executor Deserialize CPU Time",
    "resultSerializationTime": "Result Serialization Time",
    "resultSize": "Result Size",
    "jvmGcTime": "JVM GC Time",
    "peakExecutionMemory": "Peak Execution Memory",
    "memoryBytesSpilled": "Memory Bytes Spilled",
    "diskBytesSpilled": "Disk Bytes Spilled",
}
_GROUPS: Final = {
    "inputMetrics": ("Input Metrics", {"bytesRead": "Bytes Read", "recordsRead": "Records Read"}),
    "outputMetrics": ("Output Metrics", {"bytesWritten": "Bytes Written", "recordsWritten": "Records Written"}),
    "shuffleReadMetrics": (
        "Shuffle Read Metrics",
        {
            "localBytesRead": "Local Bytes Read",
            "remoteBytesRead": "Remote Bytes Read",
            "remoteBytesReadToDisk": "Remote Bytes Read To Disk",
            "recordsRead": "Total Records Read",
            "localBlocksFetched": "Local Blocks Fetched",
            "remoteBlocksFetched": "Remote Blocks Fetched",
            "fetchWaitTime": "Fetch Wait Time",
        },
    ),
    "shuffleWriteMetrics": (
        "Shuffle Write Metrics",
        {
            "bytesWritten": "Shuffle Bytes Written",
            "recordsWritten": "Shuffle Records Written",
            "writeTime": "Shuffle Write Time",
        },
    ),
}

if TYPE_CHECKING:
    import pyarrow as pa

Object = Mapping[str, Any]


def write_events(place: str, application: Object, attempt: Object, file: str) -> None:
    """Write the events of the application whose resources lie below the URL `place`.

    Raises as `http.opened`.
    """
    with open(file, "w", encoding="utf-8") as out:
        for event in _events(place, application, attempt):
            _write(out, event)


def of_interface(run: Run) -> Run:
    """A run that was read from such events: without the tables of which the interface says nothing."""
    now = "Read from the interface of the running application, as it was at that moment; it tells no plans."
    notes = [Note("limited", now)]
    known = {*run.tables["stages"]["stage_id"].to_pylist()}
    if forgotten := max(known, default=-1) + 1 - len(known):
        message = f"The interface has forgotten {counted(forgotten, 'stage')} (spark.ui.retainedStages)."
        notes.append(Note("missing_part", message))
    tables = {name: table for name, table in run.tables.items() if name in TABLES}
    tables["stages"] = _without(tables["stages"], _NOT_TOLD)
    application = replace(run.application, lines=0)
    # Stage by stage, not by time, is how the events were written: their order says nothing of clocks.
    notes = [note for note in run.coverage.notes if note.code != "clock_skew"] + notes
    return replace(run, tables=tables, application=application, coverage=Coverage(tuple(notes)))


def _without(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The table with nulls in these columns. Events without RDDs say that they are empty, which is not known."""
    import pyarrow as pa

    for name in columns:
        position = table.schema.get_field_index(name)
        field = table.schema.field(position)
        table = table.set_column(position, field, pa.nulls(table.num_rows, field.type))
    return table


def _events(place: str, application: Object, attempt: Object) -> Iterator[Object]:
    yield {"Event": "SparkListenerLogStart", "Spark Version": attempt.get("appSparkVersion")}
    yield {
        "Event": "SparkListenerApplicationStart",
        "App Name": application.get("name"),
        "App ID": application.get("id"),
        "Timestamp": _ms(attempt.get("startTime")),
        "User": attempt.get("sparkUser"),
        "App Attempt ID": attempt.get("attemptId"),
    }
    yield _environment(http.get_json(f"{place}/environment"))
    executors = http.get_json(f"{place}/allexecutors")
    for executor in executors:
        if executor["id"] != "driver" or executor.get("totalCores"):
            yield _executor_added(executor)
        yield _block_manager_added(executor)
    executions = list(_pages(f"{place}/sql?details=false"))
    execution_of = {job: one["id"] for one in executions for job in _jobs_of(one)}
    for execution in executions:
        yield _execution_start(execution)
    jobs = sorted(http.get_json(f"{place}/jobs"), key=lambda job: int(job["jobId"]))
    stages = sorted(http.get_json(f"{place}/stages"), key=lambda stage: (stage["stageId"], stage["attemptId"]))
    infos = {stage["stageId"]: _stage_info(stage) for stage in reversed(stages)}
    properties: dict[int, Object] = {}
    for job in jobs:
        of_job = _properties(job, execution_of)
        properties |= {stage: of_job for stage in job["stageIds"] if stage not in properties}
        yield {
            "Event": "SparkListenerJobStart",
            "Job ID": job["jobId"],
            "Submission Time": _ms(job.get("submissionTime")),
            "Stage IDs": job["stageIds"],
            "Stage Infos": [infos[stage] for stage in job["stageIds"] if stage in infos],
            "Properties": of_job,
        }
    for stage in stages:
        if stage["status"] not in ("SKIPPED", "PENDING"):
            yield from _stage(place, stage, properties.get(stage["stageId"], {}))
    for job in jobs:
        if job["status"] in ("SUCCEEDED", "FAILED"):
            result = "JobSucceeded" if job["status"] == "SUCCEEDED" else "JobFailed"
            ended = {"Job ID": job["jobId"], "Completion Time": _ms(job.get("completionTime"))}
            yield {"Event": "SparkListenerJobEnd", **ended, "Job Result": {"Result": result}}
    for execution in executions:
        if execution.get("status") != "RUNNING":
            yield _execution_end(execution)
    for executor in executors:
        if executor.get("removeTime"):
            yield {
                "Event": "SparkListenerExecutorRemoved",
                "Timestamp": _ms(executor["removeTime"]),
                "Executor ID": executor["id"],
                "Removed Reason": executor.get("removeReason"),
            }
    if attempt.get("completed"):
        yield {"Event": "SparkListenerApplicationEnd", "Timestamp": _ms(attempt.get("endTime"))}


def _environment(said: Object) -> Object:
    runtime = said.get("runtime") or {}
    return {
        "Event": "SparkListenerEnvironmentUpdate",
        "JVM Information": {"Java Version": runtime.get("javaVersion"), "Scala Version": runtime.get("scalaVersion")},
        **{
            name: dict(said.get(key) or [])
            for name, key in (
                ("Spark Properties", "sparkProperties"),
                ("Hadoop Properties", "hadoopProperties"),
                ("System Properties", "systemProperties"),
            )
        },
    }


def _executor_added(executor: Object) -> Object:
    return {
        "Event": "SparkListenerExecutorAdded",
        "Timestamp": _ms(executor.get("addTime")),
        "Executor ID": executor["id"],
        "Executor Info": {
            "Host": str(executor.get("hostPort", "")).rpartition(":")[0],
            "Total Cores": executor.get("totalCores"),
            "Log Urls": executor.get("executorLogs") or {},
            "Resource Profile Id": executor.get("resourceProfileId"),
        },
    }


def _block_manager_added(executor: Object) -> Object:
    host, _, port = str(executor.get("hostPort", "")).rpartition(":")
    memory = executor.get("memoryMetrics") or {}
    return {
        "Event": "SparkListenerBlockManagerAdded",
        "Timestamp": _ms(executor.get("addTime")),
        "Block Manager ID": {"Executor ID": executor["id"], "Host": host, "Port": int(port) if port.isdigit() else 0},
        "Maximum Memory": executor.get("maxMemory"),
        "Maximum Onheap Memory": memory.get("totalOnHeapStorageMemory"),
        "Maximum Offheap Memory": memory.get("totalOffHeapStorageMemory"),
    }


def _jobs_of(execution: Object) -> list[int]:
    return [job for key in ("runningJobIds", "successJobIds", "failedJobIds") for job in execution.get(key) or []]


def _execution_start(execution: Object) -> Object:
    return {
        "Event": f"{_SQL}Start",
        "executionId": execution["id"],
        "description": execution.get("description"),
        "physicalPlanDescription": execution.get("planDescription"),
        "time": _ms(execution.get("submissionTime")),
    }


def _execution_end(execution: Object) -> Object:
    started = _ms(execution.get("submissionTime"))
    ended = None if started is None else started + execution.get("duration", 0)
    failed = {"errorMessage": "failed; the interface does not say why"} if execution.get("status") == "FAILED" else {}
    return {"Event": f"{_SQL}End", "executionId": execution["id"], "time": ended, **failed}


def _properties(job: Object, execution_of: Mapping[int, int]) -> Object:
    said = {
        "spark.job.description": job.get("description"),
        "spark.jobGroup.id": job.get("jobGroup"),
        "callSite.short": job.get("name"),
        "spark.job.tags": ",".join(job.get("jobTags") or []) or None,
        "spark.sql.execution.id": None if (sql := execution_of.get(job["jobId"])) is None else str(sql),
    }
    return {key: value for key, value in said.items() if value is not None}


def _stage_info(stage: Object) -> Object:
    return {
        "Stage ID": stage["stageId"],
        "Stage Attempt ID": stage["attemptId"],
        "Stage Name": stage.get("name"),
        "Number of Tasks": stage.get("numTasks"),
        "Details": stage.get("details"),
        "Submission Time": _ms(stage.get("submissionTime")),
        "Completion Time": _ms(stage.get("completionTime")),
        "Failure Reason": stage.get("failureReason"),
        "Resource Profile Id": stage.get("resourceProfileId"),
    }


def _stage(place: str, stage: Object, properties: Object) -> Iterator[Object]:
    key = {"Stage ID": stage["stageId"], "Stage Attempt ID": stage["attemptId"]}
    info = _stage_info(stage)
    yield {"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": properties}
    for task in _pages(f"{place}/stages/{stage['stageId']}/{stage['attemptId']}/taskList?sortBy=ID"):
        said = _task_info(task)
        yield {"Event": "SparkListenerTaskStart", **key, "Task Info": said}
        if task.get("status") in ("SUCCESS", "FAILED", "KILLED"):
            yield {
                "Event": "SparkListenerTaskEnd",
                **key,
                "Task End Reason": _end_reason(task),
                "Task Info": said,
                "Task Metrics": _task_metrics(task.get("taskMetrics")),
            }
    if stage["status"] in ("COMPLETE", "FAILED"):
        yield {"Event": "SparkListenerStageCompleted", "Stage Info": info}


def _task_info(task: Object) -> Object:
    launched = _ms(task.get("launchTime"))
    ended = 0 if launched is None or task.get("status") == "RUNNING" else launched + (task.get("duration") or 0)
    return {
        "Task ID": task["taskId"],
        "Index": task.get("index"),
        "Attempt": task.get("attempt"),
        "Partition ID": task.get("partitionId", task.get("index")),
        "Launch Time": launched,
        "Executor ID": task.get("executorId"),
        "Host": task.get("host"),
        "Locality": task.get("taskLocality"),
        "Speculative": task.get("speculative", False),
        "Getting Result Time": _ms(task.get("resultFetchStart")) or 0,
        "Finish Time": ended,
    }


def _end_reason(task: Object) -> Object:
    said = str(task.get("errorMessage") or "")
    if task["status"] == "SUCCESS":
        return {"Reason": "Success"}
    if task["status"] == "KILLED":
        return {"Reason": "TaskKilled", "Kill Reason": said}
    for reason in ("ExecutorLostFailure", "FetchFailed", "Resubmitted", "TaskCommitDenied"):
        if said.startswith(reason):
            return {"Reason": reason, "Loss Reason": said, "Message": said}
    name, _, rest = said.partition(":")
    return {"Reason": "ExceptionFailure", "Class Name": name.strip(), "Description": rest.strip() or said}


def _task_metrics(said: Object | None) -> Object | None:
    if said is None:
        return None
    metrics: dict[str, Any] = {name: said.get(key) for key, name in _METRICS.items()}
    for key, (name, names) in _GROUPS.items():
        group = said.get(key) or {}
        metrics[name] = {field: group.get(inner) for inner, field in names.items()}
    return metrics


def _pages(url: str) -> Iterator[Object]:
    """All of a list that is given in pages."""
    join = "&" if "?" in url else "?"
    for page in range(_MOST_PAGES):
        rows = http.get_json(f"{url}{join}offset={page * _PAGE}&length={_PAGE}")
        yield from rows
        if len(rows) < _PAGE:
            return


def _ms(said: Any) -> int | None:
    """Epoch milliseconds of `2026-11-30T12:50:18.907GMT`; None for none, and for Spark's -1 ms."""
    if not isinstance(said, str):
        return None
    try:
        moment = datetime.strptime(said.removesuffix("GMT"), "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=UTC)
    except ValueError:
        return None
    value = round(moment.timestamp() * 1000)
    return value if value >= 0 else None


def _write(out: TextIO, event: Object) -> None:
    json.dump(event, out, separators=(",", ":"))
    out.write("\n")
