"""Storage, exclusions, streaming and executors' metrics of a real application, against its events read plainly."""

import json
from collections import Counter
from datetime import datetime
from typing import Any

import msgspec
import pytest

from emberscope.eventlog.columns import Columns
from emberscope.eventlog.events import decode
from emberscope.eventlog.read import read_event_log
from emberscope.redact import Redactor
from emberscope.tables.run import Run
from tests.eventlog.logs import EVENTFUL, events, packed_text


@pytest.fixture(scope="module")
def run() -> Run:
    return read_event_log(str(EVENTFUL))


@pytest.fixture(scope="module")
def told() -> list[dict[str, Any]]:
    return list(events(packed_text(EVENTFUL)))


def named(told: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in told if event["Event"].rpartition(".")[2] == name]


def columns(*lines: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The tables of these events, by the routes that real ones take."""
    built = Columns(Redactor())
    routes = built.routes()
    for line in lines:
        record, handler = routes[line["Event"].rpartition(".")[2]]
        assert handler is not None
        handler(decode(msgspec.json.Decoder(record), json.dumps(line).encode()))
    return {name: table.to_pylist() for name, table in built.tables(last=True)}


def test_blocks_that_are_left_at_the_end(run: Run, told: list[dict[str, Any]]) -> None:
    left: dict[tuple[str, str], tuple[int, int]] = {}
    for event in told:
        if event["Event"] == "SparkListenerBlockUpdated":
            info = event["Block Updated Info"]
            level = info["Storage Level"]
            sizes = (
                info["Memory Size"] if level["Use Memory"] else 0,
                info["Disk Size"] if level["Use Disk"] else 0,
            )
            left[info["Block ID"], info["Block Manager ID"]["Executor ID"]] = sizes
        if event["Event"] == "SparkListenerUnpersistRDD":
            left = {key: sizes for key, sizes in left.items() if not key[0].startswith(f"rdd_{event['RDD ID']}_")}
    left = {key: sizes for key, sizes in left.items() if key[0].startswith("rdd_") and any(sizes)}
    got = {
        (f"rdd_{row['rdd_id']}_{row['partition']}", row["executor_id"]): (row["memory_bytes"], row["disk_bytes"])
        for row in run.tables["storage_blocks"].to_pylist()
    }
    assert got == left
    assert len(got) == 4
    by_rdd: Counter[int] = Counter()
    for (block, _), (memory, _) in left.items():
        by_rdd[int(block.split("_")[1])] += memory
    storage = {row["rdd_id"]: row for row in run.tables["storage"].to_pylist()}
    assert {rdd: row["memory_bytes"] for rdd, row in storage.items() if row["memory_bytes"]} == +by_rdd
    assert [row["name"] for row in storage.values() if row["unpersisted"]] == ["numbers"]
    assert all(row["peak_memory_bytes"] or row["peak_disk_bytes"] for row in storage.values())
    assert {row["storage_level"] for row in storage.values()} == {
        "Disk Memory Serialized 1x Replicated",
        "Disk Serialized 1x Replicated",
        "Disk Memory Deserialized 1x Replicated",
    }


def test_sizes_are_unknown_without_block_updates() -> None:
    run = read_event_log(str(EVENTFUL.parent / "spark-4.3-retried.zstd"))
    [row] = run.tables["storage"].to_pylist()
    assert row["partition_count"] == 6
    assert row["stage_count"] > 1
    for column in ("cached_partitions", "memory_bytes", "disk_bytes", "peak_memory_bytes", "evictions"):
        assert row[column] is None


def test_a_block_that_leaves_memory_is_an_eviction_and_one_whose_executor_goes_is_not() -> None:
    def block(memory: int, use: bool, disk: int = 0, executor: str = "1") -> dict[str, Any]:
        level = {"Use Disk": disk > 0, "Use Memory": use, "Deserialized": False, "Replication": 1}
        manager = {"Executor ID": executor, "Host": "h", "Port": 1}
        info = {"Block ID": "rdd_3_0", "Block Manager ID": manager, "Storage Level": level}
        sizes = {"Memory Size": memory, "Disk Size": disk}
        return {"Event": "SparkListenerBlockUpdated", "Block Updated Info": info | sizes}

    gone = {"Event": "SparkListenerExecutorRemoved", "Timestamp": 5, "Executor ID": "2", "Removed Reason": "lost"}
    tables = columns(block(100, True), block(100, True, executor="2"), block(100, False, disk=80), gone)
    [row] = tables["storage"]
    assert (row["memory_bytes"], row["disk_bytes"], row["peak_memory_bytes"], row["evictions"]) == (0, 80, 200, 1)
    assert row["cached_partitions"] == 1


def test_what_spark_before_2_3_says_of_blocks_with_its_stages() -> None:
    level = {"Use Disk": False, "Use Memory": True, "Use ExternalBlockStore": False, "Deserialized": True}
    rdd = {"RDD ID": 1, "Name": "kept", "Storage Level": level, "Number of Partitions": 8}
    planned = rdd | {"Number of Cached Partitions": 0, "Memory Size": 0, "Disk Size": 0}
    done = rdd | {"Number of Cached Partitions": 5, "Memory Size": 700, "Disk Size": 0}
    stage = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 8}
    tables = columns(
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage | {"RDD Info": [planned]}},
        {"Event": "SparkListenerStageCompleted", "Stage Info": stage | {"RDD Info": [done]}},
    )
    [row] = tables["storage"]
    assert (row["cached_partitions"], row["memory_bytes"], row["disk_bytes"], row["evictions"]) == (5, 700, 0, None)


def test_an_exclusion_counts_once_by_its_old_name_and_its_new_one(run: Run, told: list[dict[str, Any]]) -> None:
    assert len(named(told, "SparkListenerExecutorExcludedForStage")) == 1
    assert len(named(told, "SparkListenerExecutorBlacklistedForStage")) == 1
    [row] = [row for row in run.tables["executor_events"].to_pylist() if row["event"] == "excluded"]
    [event] = named(told, "SparkListenerExecutorExcludedForStage")
    assert (row["time_ms"], row["executor_id"], row["stage_id"], row["failures"]) == (
        event["time"],
        event["executorId"],
        event["stageId"],
        event["taskFailures"],
    )
    excluded = {e["executor_id"]: e["excluded"] for e in run.tables["executors"].to_pylist()}
    assert excluded == {"0": 0, "1": 0} | {row["executor_id"]: 1}


def test_a_node_that_is_excluded_counts_for_its_executors() -> None:
    def added(executor: str, host: str) -> dict[str, Any]:
        info = {"Host": host, "Total Cores": 1, "Log Urls": {}}
        return {"Event": "SparkListenerExecutorAdded", "Timestamp": 1, "Executor ID": executor, "Executor Info": info}

    package = "org.apache.spark.scheduler."
    tables = columns(
        added("1", "a"),
        added("2", "b"),
        {"Event": f"{package}SparkListenerNodeBlacklisted", "time": 7, "hostId": "a", "executorFailures": 2},
        {"Event": f"{package}SparkListenerNodeUnblacklisted", "time": 9, "hostId": "a"},
        {
            "Event": "SparkListenerExecutorRemoved",
            "Timestamp": 11,
            "Executor ID": "2",
            "Removed Reason": "Executor decommission: spot",
        },
    )
    events_by_name = [(row["event"], row["host"], row["failures"]) for row in tables["executor_events"]]
    assert ("excluded", "a", 2) in events_by_name
    assert ("unexcluded", "a", None) in events_by_name
    by_id = {row["executor_id"]: row for row in tables["executors"]}
    assert (by_id["1"]["excluded"], by_id["2"]["excluded"]) == (1, 0)
    assert (by_id["1"]["decommissioned"], by_id["2"]["decommissioned"]) == (None, True)
    assert by_id["1"]["resource_profile_id"] is None
    assert by_id["1"]["resources"] is None


def test_the_first_removal_of_an_executor_is_the_one_that_counts() -> None:
    def removed(ms: int, reason: str) -> dict[str, Any]:
        return {
            "Event": "SparkListenerExecutorRemoved",
            "Timestamp": ms,
            "Executor ID": "1",
            "Removed Reason": reason,
        }

    def added(ms: int) -> dict[str, Any]:
        info = {"Host": "a", "Total Cores": 1, "Log Urls": {}}
        return {"Event": "SparkListenerExecutorAdded", "Timestamp": ms, "Executor ID": "1", "Executor Info": info}

    # Spark tells that a decommissioned executor leaves, and then that its process ended.
    told = [removed(20, "Executor decommission: told to go"), removed(30, "Command exited with code 0")]
    tables = columns(added(10), *told)
    (row,) = tables["executors"]
    assert (row["removed_ms"], row["decommissioned"]) == (20, True)
    assert row["removed_reason"] == "Executor decommission: told to go"
    gone = [(event["time_ms"], event["reason"]) for event in tables["executor_events"] if event["event"] == "removed"]
    assert gone == [(20, "Executor decommission: told to go"), (30, "Command exited with code 0")]
    (again,) = columns(added(10), *told, added(40))["executors"]
    assert (again["added_ms"], again["removed_ms"], again["decommissioned"]) == (40, None, None)


def test_batches_of_a_streaming_query(run: Run, told: list[dict[str, Any]]) -> None:
    want = [event["progress"] for event in named(told, "StreamingQueryListener$QueryProgressEvent")]
    got = run.tables["streaming_batches"].to_pylist()
    assert len(got) == len(want) == 2
    for row, progress in zip(got, want, strict=True):
        assert row["batch_id"] == progress["batchId"]
        assert row["input_rows"] == sum(source["numInputRows"] for source in progress["sources"])
        assert row["duration_ms"] == progress["batchDuration"]
        assert row["add_batch_ms"] == progress["durationMs"]["addBatch"]
        assert row["state_rows"] == sum(state["numRowsTotal"] for state in progress["stateOperators"])
        assert row["state_memory_bytes"] == sum(state["memoryUsedBytes"] for state in progress["stateOperators"])
        assert row["started_ms"] == round(datetime.fromisoformat(progress["timestamp"]).timestamp() * 1000)
    [query] = run.tables["streaming_queries"].to_pylist()
    assert (query["name"], query["status"], query["batch_count"]) == ("counts", "stopped", 2)
    jobs = [job for job in run.tables["jobs"].to_pylist() if job["streaming_query_id"] == query["query_id"]]
    assert {job["streaming_batch_id"] for job in jobs} >= {0, 1}
    assert all(job["job_group"] == query["run_id"] for job in jobs)


def test_a_progress_that_says_little_has_nulls() -> None:
    name = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"
    source = {"description": "Kafka", "numInputRows": 5, "inputRowsPerSecond": "NaN", "processedRowsPerSecond": None}
    progress = {
        "id": "q",
        "runId": "r",
        "batchId": 3,
        "durationMs": {},
        "sources": [source],
        "sink": {"numOutputRows": -1},
    }
    [row] = columns({"Event": name, "progress": progress})["streaming_batches"]
    assert (row["input_rows"], row["batch_id"]) == (5, 3)
    for column in ("input_rows_per_second", "output_rows", "state_rows", "watermark_ms", "duration_ms", "started_ms"):
        assert row[column] is None


def test_jobs_have_tags_groups_and_pools_and_stages_know_barriers(run: Run) -> None:
    jobs = run.tables["jobs"].to_pylist()
    assert any(job["pool"] == "patient" and job["job_group"] == "a group" for job in jobs)
    assert any("tag-a" in (job["tags"] or []) for job in jobs)
    barriers = Counter(stage["barrier"] for stage in run.tables["stages"].to_pylist())
    assert barriers[True] == 1
    assert barriers[None] == 0
    assert all(stage["call_sites"] for stage in run.tables["stages"].to_pylist())


def test_peaks_of_executors(run: Run, told: list[dict[str, Any]]) -> None:
    rows = run.tables["executor_metrics"].to_pylist()
    stages = [row for row in rows if row["source"] == "stage"]
    want = named(told, "SparkListenerStageExecutorMetrics")
    assert len(stages) == len(want) > 0
    for row, event in zip(stages, want, strict=True):
        peaks = event["Executor Metrics"]
        assert (row["executor_id"], row["stage_id"]) == (event["Executor ID"], event["Stage ID"])
        if peaks["JVMHeapMemory"]:
            assert row["jvm_heap_bytes"] == peaks["JVMHeapMemory"]
            assert row["total_gc_ms"] == peaks["TotalGCTime"]
        else:
            assert row["jvm_heap_bytes"] is None
        assert row["process_jvm_rss_bytes"] == (peaks["ProcessTreeJVMRSSMemory"] or None)
    beats = [row for row in rows if row["source"] == "heartbeat"]
    assert len(beats) == len(named(told, "SparkListenerExecutorMetricsUpdate"))
    assert all(row["executor_id"] == "driver" and row["stage_id"] is None for row in beats)
    times = [row["after_ms"] for row in beats if row["after_ms"] is not None]
    assert times == sorted(times)


def test_resource_profiles(run: Run) -> None:
    rows = run.tables["resource_profiles"].to_pylist()
    amounts = {(row["scope"], row["resource"]): row["amount"] for row in rows}
    assert amounts["executor", "memory"] == 512
    assert amounts["task", "cpus"] == 1


def test_unknown_events_are_counted_and_passed_by(tmp_path) -> None:
    log = tmp_path / "log"
    start = b'{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"x","Timestamp":1,"User":"u"}\n'
    log.write_bytes(start + b'{"Event":"com.vendor.Something","deep":[{"a":1}]}\n' * 3)
    run = read_event_log(str(log))
    assert run.application.event_counts["com.vendor.Something"] == 3
    assert run.coverage.complete


def test_what_an_old_spark_does_not_write_is_null() -> None:
    level = {"Use Disk": False, "Use Memory": False, "Use ExternalBlockStore": False, "Deserialized": False}
    rdd = {"RDD ID": 0, "Name": "r", "Storage Level": level, "Number of Partitions": 1}
    stage = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 1, "RDD Info": [rdd]}
    info = {"Host": "h", "Total Cores": 1, "Log Urls": {}}
    manager = {"Executor ID": "1", "Host": "h", "Port": 1}
    sql = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
    metric = {"name": "rows", "accumulatorId": 3, "metricParam": ""}
    plan = {"nodeName": "Scan", "simpleString": "Scan", "children": [], "metrics": [metric]}
    tables = columns(
        {"Event": "SparkListenerExecutorAdded", "Timestamp": 1, "Executor ID": "1", "Executor Info": info},
        {"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": manager, "Maximum Memory": 9, "Timestamp": 1},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Stage Infos": [stage], "Stage IDs": [0], "Properties": {}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage, "Properties": {}},
        {"Event": f"{sql}Start", "executionId": 0, "description": "d", "sparkPlanInfo": plan, "time": 2},
        {"Event": f"{sql}End", "executionId": 0, "time": 3},
    )
    unknown = {
        "executors": "requested_ms registered_ms resource_profile_id resources max_off_heap_storage_bytes log_url "
        "container_id peak_jvm_heap_bytes decommissioned removed_ms",
        "jobs": "tags pool details streaming_query_id streaming_batch_id job_group submitted_ms completed_ms",
        "stages": "resource_profile_id barrier call_sites failure_reason accumulator_ids",
        "sql_executions": "job_tags job_group query_id root_execution_id error_message",
        "plan_metrics": "value last_attempt_value metric_type",
    }
    for table, names in unknown.items():
        [row] = tables[table]
        assert {name: row[name] for name in names.split()} == dict.fromkeys(names.split()), table
    for table in ("storage", "accumulables", "executor_metrics", "resource_profiles", "sessions", "streaming_batches"):
        assert tables[table] == []
