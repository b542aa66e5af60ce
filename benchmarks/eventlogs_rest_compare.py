"""One application: our tables against what the History Server's REST API says."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from eventlogs_rest_shown import Shown, metric_text, one_text, without_task

from emberscope.tables.run import Run

Row = dict[str, Any]

SUMS = {
    "executorDeserializeTime": "executor_deserialize_time_ms",
    "executorDeserializeCpuTime": "executor_deserialize_cpu_time_ns",
    "executorRunTime": "executor_run_time_ms",
    "executorCpuTime": "executor_cpu_time_ns",
    "resultSize": "result_size_bytes",
    "jvmGcTime": "gc_time_ms",
    "resultSerializationTime": "result_serialization_time_ms",
    "memoryBytesSpilled": "memory_spilled_bytes",
    "diskBytesSpilled": "disk_spilled_bytes",
    "peakExecutionMemory": "peak_execution_memory_bytes",
    "inputBytes": "input_bytes",
    "inputRecords": "input_records",
    "outputBytes": "output_bytes",
    "outputRecords": "output_records",
    "shuffleRemoteBlocksFetched": "shuffle_read_remote_blocks",
    "shuffleLocalBlocksFetched": "shuffle_read_local_blocks",
    "shuffleFetchWaitTime": "shuffle_fetch_wait_ms",
    "shuffleRemoteBytesRead": "shuffle_read_remote_bytes",
    "shuffleRemoteBytesReadToDisk": "shuffle_read_remote_to_disk_bytes",
    "shuffleLocalBytesRead": "shuffle_read_local_bytes",
    "shuffleReadRecords": "shuffle_read_records",
    "shuffleWriteBytes": "shuffle_write_bytes",
    "shuffleWriteTime": "shuffle_write_time_ns",
    "shuffleWriteRecords": "shuffle_write_records",
}
STATUSES = {"COMPLETE": "succeeded", "FAILED": "failed", "SKIPPED": "skipped", "ACTIVE": "unfinished"}
SQL_STATUSES = {"COMPLETED": "succeeded", "FAILED": "failed", "RUNNING": "unfinished"}
PEAKS = {
    "JVMHeapMemory": "jvm_heap_bytes",
    "JVMOffHeapMemory": "jvm_off_heap_bytes",
    "OnHeapExecutionMemory": "on_heap_execution_bytes",
    "OnHeapStorageMemory": "on_heap_storage_bytes",
    "ProcessTreeJVMRSSMemory": "process_jvm_rss_bytes",
    "ProcessTreePythonRSSMemory": "process_python_rss_bytes",
    "MinorGCTime": "minor_gc_ms",
    "TotalGCTime": "total_gc_ms",
}
KINDS = ("sum", "size", "timing", "nsTiming", "average")
KILLED = ("TaskKilled", "TaskCommitDenied")


@dataclass(frozen=True)
class Difference:
    what: str
    where: str
    field: str
    ours: Any
    theirs: Any
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.where}, {self.field}: {self.ours!r}, server {self.theirs!r}"


class Comparison:
    """Counts what is `equal` by part, and collects the `differences`."""

    def __init__(self, run: Run, updates: pa.Table, server: Row) -> None:
        self.run = run
        self.equal: Counter[str] = Counter()
        self.differences: list[Difference] = []
        self._server = server
        self._spark2 = (run.application.spark_version or "").startswith(("1.", "2."))
        self._dropped = any(note.code == "dropped_events" for note in run.coverage.notes)
        self._stages = {(row["stage_id"], row["stage_attempt"]): row for row in run.tables["stages"].to_pylist()}
        self._shown = Shown(updates, run.tables["stages"])
        self._tasks: dict[tuple[int, int], list[Row]] = defaultdict(list)
        self._tasks_of: dict[str, list[Row]] = defaultdict(list)
        for task in run.tables["tasks"].to_pylist():
            self._tasks[task["stage_id"], task["stage_attempt"]].append(task)
            self._tasks_of[task["executor_id"]].append(task)

    def all(self) -> None:
        self.stages()
        self.jobs()
        self.executors()
        self.storage()
        self.sql()

    def _same(self, what: str, where: str, field: str, ours: Any, theirs: Any, reason: str = "") -> None:
        if ours == theirs or (ours is None and not theirs):
            self.equal[what] += 1
        else:
            reason = "redacted" if "(redacted)" in str(ours) else reason
            self.differences.append(Difference(what, where, field, ours, theirs, reason))

    def stages(self) -> None:
        theirs = {(stage["stageId"], stage["attemptId"]): stage for stage in self._server["stages"]}
        for key in theirs.keys() ^ self._stages.keys():
            self._same("stages", f"{key}", "exists", key in self._stages, key in theirs)
        peaks = self._peaks()
        for key in sorted(theirs.keys() & self._stages.keys()):
            ours, stage, tasks = self._stages[key], theirs[key], self._tasks[key]
            where = f"{key[0]}.{key[1]}"
            reasons = Counter(task["reason"] for task in tasks)
            skipped_description = ours["description"] if ours["status"] == "skipped" else None
            killed = sum(reasons[reason] for reason in KILLED)
            rows = {
                "status": (ours["status"], STATUSES.get(stage["status"], stage["status"])),
                "numTasks": (ours["task_count"], stage["numTasks"]),
                "numCompleteTasks": (reasons["Success"], stage["numCompleteTasks"]),
                "numFailedTasks": (len(tasks) - reasons["Success"] - killed, stage["numFailedTasks"]),
                "numKilledTasks": (killed, stage["numKilledTasks"]),
                "name": (ours["name"], stage["name"]),
                # The server has none of stages that were skipped.
                "description": (ours["description"], stage.get("description", skipped_description)),
                "submissionTime": (ours["submitted_ms"], epoch_ms(stage.get("submissionTime"))),
                "completionTime": (ours["completed_ms"], epoch_ms(stage.get("completionTime"))),
                "failureReason": ((ours["failure_reason"] or "")[:500], stage.get("failureReason", "")[:500]),
                **{name: (total(tasks, column), stage[name]) for name, column in SUMS.items() if name in stage},
            }
            for name, column in PEAKS.items():
                if stage.get("peakExecutorMetrics") and peaks[key].get(column) is not None:
                    rows[f"peak {name}"] = (peaks[key][column], stage["peakExecutorMetrics"].get(name))
            pending = "pending" if stage["status"] == "PENDING" else ""
            for field, (mine, other) in rows.items():
                # Of a task whose start the log lost the server counts the end and leaves out what it did.
                lost = "dropped" if self._dropped and field in SUMS and mine > other else ""
                self._same("stages", where, field, mine, other, pending if field == "status" else lost)

    def _peaks(self) -> dict[tuple[int, int], dict[str, int]]:
        peaks: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
        for row in self.run.tables["executor_metrics"].to_pylist():
            of_stage = peaks[row["stage_id"], row["stage_attempt"]]
            for column in PEAKS.values():
                if row["source"] == "stage" and row[column] is not None:
                    of_stage[column] = max(row[column], of_stage.get(column, 0))
        return peaks

    def jobs(self) -> None:
        ours = {row["job_id"]: row for row in self.run.tables["jobs"].to_pylist()}
        theirs = {job["jobId"]: job for job in self._server["jobs"]}
        for key in ours.keys() ^ theirs.keys():
            # The server passes by the end of a job whose start the log lacks.
            self._same("jobs", str(key), "exists", key in ours and ours[key]["submitted_ms"] is not None, key in theirs)
        for key in sorted(ours.keys() & theirs.keys()):
            job, mine = theirs[key], ours[key]
            rows = {
                "status": (mine["status"], {"RUNNING": "unfinished"}.get(job["status"], job["status"].lower())),
                "name": (mine["call_site"], job["name"]),
                "description": (mine["description"], job.get("description")),
                "jobGroup": (mine["job_group"], job.get("jobGroup")),
                "jobTags": (sorted(mine["tags"] or []), sorted(job["jobTags"])),
                "stageIds": (sorted(mine["stage_ids"]), sorted(job["stageIds"])),
                "submissionTime": (mine["submitted_ms"], epoch_ms(job.get("submissionTime"))),
                "completionTime": (mine["completed_ms"], epoch_ms(job.get("completionTime"))),
            }
            for field, (value, other) in rows.items():
                self._same("jobs", str(key), field, value, other)

    def executors(self) -> None:
        ours = {row["executor_id"]: row for row in self.run.tables["executors"].to_pylist()}
        for executor in self._server["executors"]:
            key = executor["id"]
            if key not in ours:
                continue  # a driver that runs no tasks, and executors of which only the block manager is logged
            mine, tasks = ours[key], self._tasks_of[key]
            removed_ms = mine["removed_ms"]
            late = [task for task in tasks if removed_ms is not None and task["finish_ms"] >= removed_ms]
            sums: dict[str, tuple[Any, Any]] = {
                "totalTasks": (len(tasks), executor["totalTasks"] - executor["activeTasks"]),
                "totalDuration": (
                    sum(task["finish_ms"] - task["launch_ms"] for task in tasks),
                    executor["totalDuration"],
                ),
                "totalGCTime": (total(tasks, "gc_time_ms"), executor["totalGCTime"]),
                "totalInputBytes": (total(tasks, "input_bytes"), executor["totalInputBytes"]),
                "totalShuffleWrite": (total(tasks, "shuffle_write_bytes"), executor["totalShuffleWrite"]),
            }
            for field, (value, other) in sums.items():
                local = key == "driver" and field in ("totalDuration", "totalGCTime")
                self._same("executors", key, field, value, other, "local" if local else "removed" if late else "")
            rows = {
                "totalCores": (mine["cores"], executor["totalCores"]),
                "addTime": (mine["added_ms"], epoch_ms(executor["addTime"])),
                "removeTime": (removed_ms, epoch_ms(executor.get("removeTime"))),
                "removeReason": (mine["removed_reason"], executor.get("removeReason")),
                "maxMemory": (mine["max_storage_memory_bytes"], executor["maxMemory"]),
                "peak heap": (
                    mine["peak_jvm_heap_bytes"],
                    executor.get("peakMemoryMetrics", {}).get("JVMHeapMemory"),
                ),
                "resourceProfileId": (mine["resource_profile_id"], executor.get("resourceProfileId")),
            }
            for field, (value, other) in rows.items():
                self._same("executors", key, field, value, other)

    def storage(self) -> None:
        ours = {row["rdd_id"]: row for row in self.run.tables["storage"].to_pylist()}
        for rdd in self._server["storage"]:
            mine = ours.get(rdd["id"], {})
            for field, column in (
                ("name", "name"),
                ("storageLevel", "storage_level"),
                ("numPartitions", "partition_count"),
                ("numCachedPartitions", "cached_partitions"),
                ("memoryUsed", "memory_bytes"),
                ("diskUsed", "disk_bytes"),
            ):
                self._same("storage", str(rdd["id"]), field, mine.get(column), rdd[field])

    def sql(self) -> None:
        ours = {row["sql_execution_id"]: row for row in self.run.tables["sql_executions"].to_pylist()}
        theirs = {execution["id"]: execution for execution in self._server["sql"]}
        for key in ours.keys() ^ theirs.keys():
            self._same("sql", str(key), "exists", key in ours, key in theirs)
        nodes, metrics = defaultdict(list), defaultdict(list)
        for row in self.run.tables["plan_nodes"].to_pylist():
            nodes[row["sql_execution_id"]].append(row)
        for row in self.run.tables["plan_metrics"].to_pylist():
            metrics[row["sql_execution_id"], row["node_id"]].append(row)
        stages_of: dict[int, set[int]] = defaultdict(set)
        jobs_of: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for job in self.run.tables["jobs"].to_pylist():
            if job["sql_execution_id"] is not None:
                stages_of[job["sql_execution_id"]].update(job["stage_ids"])
                jobs_of[job["sql_execution_id"]][job["status"]].append(job["job_id"])
        for key in sorted(ours.keys() & theirs.keys()):
            mine, execution = ours[key], theirs[key]
            rows = {
                "status": (mine["status"], SQL_STATUSES[execution["status"]]),
                "description": (mine["description"], execution["description"]),
                "submissionTime": (mine["started_ms"], epoch_ms(execution["submissionTime"])),
                "successJobIds": (sorted(jobs_of[key]["succeeded"]), sorted(execution["successJobIds"])),
                "failedJobIds": (sorted(jobs_of[key]["failed"]), sorted(execution["failedJobIds"])),
                "runningJobIds": (sorted(jobs_of[key]["unfinished"]), sorted(execution["runningJobIds"])),
            }
            if mine["ended_ms"] is not None:
                rows["duration"] = (mine["ended_ms"] - mine["started_ms"], execution["duration"])
            for field, (value, other) in rows.items():
                self._same("sql", str(key), field, value, other)
            for node, shown in pairs(nodes[key], sorted(execution["nodes"], key=lambda n: n["nodeId"])):
                where = f"{key}, operator {node['node_id']} {node['name']}"
                self._metrics(where, key, metrics[key, node["node_id"]], shown, sorted(stages_of[key]))

    def _metrics(self, where: str, execution_id: int, ours: list[Row], shown: Row | None, stage_ids: list[int]) -> None:
        if shown is None:
            self._same("sql metrics", where, "operator", "there", None)
            return
        # Two metrics of an operator may have one name; the server leaves out those that nobody updated.
        theirs: dict[str, list[str]] = defaultdict(list)
        for metric in shown["metrics"]:
            theirs[metric["name"].strip()].append(metric["value"])
        ran = [row for row in self._stages.values() if row["sql_execution_id"] == execution_id]
        damage = ""
        if any(
            row["job_id"] is None or (row["status"] == "skipped" and self._tasks[row["stage_id"], row["stage_attempt"]])
            for row in ran
        ):
            damage = "dropped"
        elif any(row["status"] == "unfinished" for row in ran):
            damage = "unfinished"
        rest = Counter(metric["name"].strip() for metric in ours)
        for metric in ours:
            name, kind = metric["name"].strip(), metric["metric_type"]
            rest[name] -= 1
            values = self._shown.values(execution_id, stage_ids, metric["accumulator_id"])
            text = metric_text(kind, values) if values else None
            other = theirs[name].pop(0) if theirs[name] and (text is not None or not rest[name]) else None
            self._same("sql metrics, by task", where, name, text, other and without_task(other))
            if kind == "average":
                continue
            value = metric["last_attempt_value"]
            total_text = None if value is None else one_text(kind, value)
            their_total = other and other.rpartition("\n")[2].partition(" (")[0]
            reason = "vendor" if kind not in KINDS else "spark2" if self._spark2 and kind != "sum" else ""
            self._same("sql metrics", where, name, total_text, their_total, damage or reason)
            if metric["value"] != value:
                total_text = one_text(kind, metric["value"])
                self._same("sql metrics, all attempts", where, name, total_text, their_total, "repeated")


def pairs(ours: list[Row], theirs: list[Row]) -> list[tuple[Row, Row | None]]:
    """Our operators with the server's, both in the order of the plan; the server shows a reused one only once."""
    result: list[tuple[Row, Row | None]] = []
    at = 0
    for node in sorted(ours, key=lambda row: row["node_id"]):
        if at < len(theirs) and theirs[at]["nodeName"] == node["name"].strip():
            result.append((node, theirs[at]))
            at += 1
    result += [({"node_id": node["nodeId"], "name": node["nodeName"]}, None) for node in theirs[at:]]
    return result


def total(tasks: list[Row], column: str) -> int:
    return sum(task[column] or 0 for task in tasks)


def epoch_ms(text: str | None) -> int | None:
    if not text:
        return None
    return round(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fGMT").replace(tzinfo=UTC).timestamp() * 1000)
