"""The reader against what Spark wrote: every sum once more by the standard library's own JSON."""

import gzip
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.eventlog.read import read_event_log
from emberscope.tables.run import Run
from tests.eventlog.logs import PACKED, ROLLED, events, plain_text, rolled_text


@pytest.fixture(scope="module")
def rolled() -> Run:
    return read_event_log(str(ROLLED))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("log") / "app-20261130083809-0000"
    path.write_bytes(plain_text())
    return read_event_log(str(path))


@pytest.mark.parametrize("name", ["rolled", "plain"])
def test_tasks_hold_the_sums_of_the_log(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    want: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for event in events(rolled_text() if name == "rolled" else plain_text()):
        if event["Event"] == "SparkListenerTaskEnd":
            metrics = event["Task Metrics"]
            outcomes[event["Task End Reason"]["Reason"]] += 1
            want["executor_cpu_time_ns"] += metrics["Executor CPU Time"]
            want["executor_run_time_ms"] += metrics["Executor Run Time"]
            want["gc_time_ms"] += metrics["JVM GC Time"]
            want["result_size_bytes"] += metrics["Result Size"]
            want["shuffle_read_remote_blocks"] += metrics["Shuffle Read Metrics"]["Remote Blocks Fetched"]
            want["shuffle_read_records"] += metrics["Shuffle Read Metrics"]["Total Records Read"]
            want["shuffle_fetch_wait_ms"] += metrics["Shuffle Read Metrics"]["Fetch Wait Time"]
            want["shuffle_write_time_ns"] += metrics["Shuffle Write Metrics"]["Shuffle Write Time"]
            want["shuffle_write_bytes"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            want["input_records"] += metrics["Input Metrics"]["Records Read"]
            want["output_bytes"] += metrics["Output Metrics"]["Bytes Written"]
            want["launch_ms"] += event["Task Info"]["Launch Time"]
            want["partition"] += event["Task Info"]["Partition ID"]
            want["peak_jvm_heap_bytes"] += event["Task Executor Metrics"]["JVMHeapMemory"]
    tasks = run.tables["tasks"]
    assert want["executor_cpu_time_ns"] > 0
    assert {column: sum(tasks[column].to_pylist()) for column in want} == dict(want)
    assert Counter(tasks["reason"].to_pylist()) == outcomes
    assert outcomes["ExceptionFailure"] == Counter(tasks["status"].to_pylist())["failed"] > 0


def test_application_facts(rolled: Run) -> None:
    application = rolled.application
    assert (application.app_id, application.app_name) == ("app-20261130085753-0000", "logged-job")
    assert (application.spark_version, application.master) == ("4.3.0", "local-cluster[2,1,512]")
    assert application.complete
    assert application.lines == rolled_text().count(b"\n")
    assert application.event_counts == Counter(event["Event"] for event in events(rolled_text()))
    assert application.duration_ms is not None
    assert application.duration_ms > 0
    assert application.app_end_ms == application.last_event_ms
    assert rolled.coverage.complete


def test_stages_say_what_they_ran_for(rolled: Run) -> None:
    stages = rolled.tables["stages"].to_pylist()
    submitted = {
        (e["Stage Info"]["Stage ID"], e["Stage Info"]["Stage Attempt ID"]): e["Properties"]
        for e in events(rolled_text())
        if e["Event"] == "SparkListenerStageSubmitted"
    }
    ran = {(s["stage_id"], s["stage_attempt"]): s for s in stages if s["status"] != "skipped"}
    assert ran.keys() == submitted.keys()
    for key, properties in submitted.items():
        assert ran[key]["job_group"] == properties["spark.jobGroup.id"]
        assert ran[key]["description"] == properties["spark.job.description"]
        assert str(ran[key]["sql_execution_id"]) == properties.get("spark.sql.execution.id", "None")
        assert ran[key]["submitted_ms"] <= ran[key]["completed_ms"]
    assert {s["status"] for s in stages} == {"succeeded", "failed", "skipped"}
    planned = {
        stage["Stage ID"]
        for e in events(rolled_text())
        if e["Event"] == "SparkListenerJobStart"
        for stage in e["Stage Infos"]
    }
    assert {s["stage_id"] for s in stages if s["status"] == "skipped"} == planned - {stage for stage, _ in ran}
    assert any(s["job_group"] == "shuffle" for s in stages if s["status"] == "skipped")
    python_stage = next(s for s in stages if s["job_group"] == "python" and "ArrowEvalPython" in s["rdd_names"])
    assert python_stage["codegen_ids"] == [1, 2]
    assert not any(name.startswith("internal.metrics") for s in stages for name in s["rdd_names"])


def test_jobs(rolled: Run) -> None:
    jobs = rolled.tables["jobs"].to_pylist()
    assert Counter(job["status"] for job in jobs) == {"succeeded": 11, "failed": 2}
    failed = [job for job in jobs if job["status"] == "failed"]
    assert {job["job_group"] for job in failed} == {"failures"}
    assert "ZeroDivisionError" in failed[0]["error_message"]
    assert all(job["submitted_ms"] <= job["completed_ms"] for job in jobs)
    assert jobs[0]["call_site"].startswith("save at ")


def test_executors_and_the_largest_heaps(rolled: Run) -> None:
    executors = {row["executor_id"]: row for row in rolled.tables["executors"].to_pylist()}
    assert executors.keys() == {"0", "1"}
    peaks: dict[str, int] = defaultdict(int)
    for event in events(rolled_text()):
        if event["Event"] == "SparkListenerStageExecutorMetrics":
            peaks[event["Executor ID"]] = max(peaks[event["Executor ID"]], event["Executor Metrics"]["JVMHeapMemory"])
        elif event["Event"] == "SparkListenerExecutorMetricsUpdate":
            for update in event["Executor Metrics Updated"]:
                heap = update["Executor Metrics"]["JVMHeapMemory"]
                peaks[event["Executor ID"]] = max(peaks[event["Executor ID"]], heap)
    for name, row in executors.items():
        assert row["peak_jvm_heap_bytes"] == peaks[name] > 0
        assert (row["cores"], row["host"]) == (1, "127.0.0.1")
        assert row["max_storage_memory_bytes"] == 133378867
        assert row["added_ms"] > 0
    assert rolled.application.peak_driver_heap_bytes == peaks["driver"] > 0
    assert rolled.application.peak_jvm_heap_bytes == max(peaks.values())


@pytest.mark.parametrize(("name", "operator"), [("rolled", "ArrowEvalPython"), ("plain", "BatchEvalPython")])
def test_python_operators_carry_their_metrics(name: str, operator: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    node = next(n for n in run.tables["plan_nodes"].to_pylist() if n["name"] == operator)
    metrics = {
        m["name"]: m["value"]
        for m in run.tables["plan_metrics"].to_pylist()
        if (m["sql_execution_id"], m["node_id"]) == (node["sql_execution_id"], node["node_id"])
    }
    assert metrics["number of output rows"] == 20_000
    assert metrics["data sent to Python workers"] > 0
    assert metrics["data returned from Python workers"] > 0
    if name == "rolled":
        assert metrics["time to run Python workers"] > 0
    assert len(node["stage_ids"]) == 1
    stages = {s["stage_id"]: s for s in run.tables["stages"].to_pylist()}
    assert stages[node["stage_ids"][0]]["sql_execution_id"] == node["sql_execution_id"]


def test_plan_is_the_last_one_and_a_tree(rolled: Run) -> None:
    executions = {row["sql_execution_id"]: row for row in rolled.tables["sql_executions"].to_pylist()}
    assert Counter(row["status"] for row in executions.values()) == {"succeeded": 3, "failed": 1}
    by_execution = defaultdict(list)
    for node in rolled.tables["plan_nodes"].to_pylist():
        by_execution[node["sql_execution_id"]].append(node)
    for nodes in by_execution.values():
        assert [node["node_id"] for node in nodes] == list(range(len(nodes)))
        assert nodes[0]["parent_node_id"] is None
        assert all(0 <= node["parent_node_id"] < node["node_id"] for node in nodes[1:])
    adaptive = next(e for e in executions.values() if e["description"] and "planned anew" in e["description"])
    assert "isFinalPlan=true" in adaptive["physical_plan"]
    names = Counter(node["name"] for node in by_execution[adaptive["sql_execution_id"]])
    assert names["SortMergeJoin"] == 1
    assert names["AQEShuffleRead"] == 2
    assert not {"InputAdapter", "ShuffleQueryStage"} & names.keys()


def test_subqueries_do_not_borrow_the_stages_of_generated_code_with_the_same_number(rolled: Run) -> None:
    nodes = rolled.tables["plan_nodes"].to_pylist()
    subquery = next(n for n in nodes if n["name"] == "Subquery")
    assert subquery["codegen_id"] is None
    same = [n for n in nodes if n["sql_execution_id"] == subquery["sql_execution_id"] and n["codegen_id"] == 1]
    inside = [n for n in same if n["node_id"] > subquery["node_id"]]
    outside = [n for n in same if n["node_id"] < subquery["node_id"]]
    assert {tuple(n["stage_ids"]) for n in outside}.isdisjoint({tuple(n["stage_ids"]) for n in inside})


@pytest.mark.parametrize("name", ["rolled", "plain"])
def test_no_secret_gets_through(name: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(name)
    for table in run.tables.values():
        assert "swordfish" not in str(table.to_pylist())
    assert run.setting("spark.example.api.token") == "*********(redacted)"
    assert [note.code for note in run.coverage.notes] == ["redacted"]
    assert run.coverage.complete
    failed = [
        t for t in run.tables["tasks"].to_pylist() if t["error_message"] and "cannot log in" in t["error_message"]
    ]
    assert failed
    assert all(task["error_message"].count("redacted") == 1 for task in failed)


def test_settings_by_scope(plain: Run) -> None:
    conf = {(row["scope"], row["key"]): row["value"] for row in plain.tables["conf"].to_pylist()}
    assert conf["spark", "spark.sql.shuffle.partitions"] == "4"
    assert conf["jvm", "Java Version"].startswith("17.")
    assert conf["jvm", "java.vm.specification.version"] == "17"
    assert ("hadoop", "io.file.buffer.size") in conf


def test_settings_that_one_execution_changed(rolled: Run) -> None:
    changed = [row for row in rolled.tables["conf"].to_pylist() if row["scope"] == "sql"]
    assert {"spark.sql.autoBroadcastJoinThreshold"} <= {row["key"] for row in changed}
    executions = {row["sql_execution_id"]: row for row in rolled.tables["sql_executions"].to_pylist()}
    first = min(row["sql_execution_id"] for row in changed)
    assert "planned anew" in executions[first]["description"]
    assert rolled.setting("spark.sql.autoBroadcastJoinThreshold") is None


def test_packed_and_plain_read_the_same(plain: Run) -> None:
    packed = read_event_log(str(PACKED))
    assert packed.application == plain.application
    assert all(packed.tables[name].equals(table) for name, table in plain.tables.items())


def test_a_cut_and_a_malformed_line_are_counted_and_skipped(tmp_path: Path) -> None:
    lines = plain_text().splitlines(keepends=True)
    task_end = next(i for i, line in enumerate(lines) if b'TaskEnd"' in line[:40])
    lines[task_end] = lines[task_end].replace(b'"Task Info"', b'"Task Info', 1)
    lines[task_end + 1] = b"\xff\x00 nothing of Spark's\n"
    path = tmp_path / "log.inprogress"
    path.write_bytes(b"".join(lines)[:-10])
    run = read_event_log(str(path))
    notes = {note.code: note for note in run.coverage.notes}
    assert notes["malformed_line"].lost["lines"] == 2
    assert str(task_end + 1) in notes["malformed_line"].message
    assert notes["cut"].lost == {"lines": 1, "bytes": len(lines[-1]) - 10}
    assert not run.coverage.complete
    assert not run.application.complete
    assert run.application.malformed_lines == 3
    assert run.application.lines == len(lines)
    whole = sum(b'TaskEnd"' in line[:40] for line in lines) - 1
    assert run.tables["tasks"].num_rows == whole


def test_stages_and_jobs_that_did_not_end_are_unfinished(tmp_path: Path) -> None:
    text = plain_text()
    first_end = text.index(b'{"Event":"SparkListenerStageCompleted"')
    (tmp_path / "log").write_bytes(text[:first_end])
    run = read_event_log(str(tmp_path / "log"))
    assert run.tables["stages"]["status"].to_pylist() == ["unfinished"]
    assert run.tables["jobs"]["status"].to_pylist() == ["unfinished"]
    assert run.tables["sql_executions"]["status"].to_pylist() == ["unfinished"]
    assert run.tables["stages"]["completed_ms"].to_pylist() == [None]
    assert all(value is None for value in run.tables["plan_metrics"]["value"].to_pylist())


def test_other_types_than_sparks_own_are_read_leniently(tmp_path: Path) -> None:
    text = plain_text()
    assert text.count(b'"Executor Run Time":') > 0
    odd = text.replace(b'"Executor Run Time":', b'"Executor Run Time": 0.0,"Executor Run Time":', 1)
    odd = odd.replace(b'"JVM GC Time":', b'"JVM GC Time":null,"x":', 1)
    odd = odd.replace(b'{"Event":"SparkListenerJobStart"', b'{ "Event" : "SparkListenerJobStart"')
    (tmp_path / "log").write_bytes(odd)
    run = read_event_log(str(tmp_path / "log"))
    assert run.application.malformed_lines == 0
    assert run.tables["jobs"].num_rows == 7
    assert run.tables["tasks"]["gc_time_ms"].null_count == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"once upon a time\n" * 9, "is not a Spark event log"),
        (b"PK\x03\x04" + b"\0" * 40, "zip archive"),
        (gzip.compress(b"no event\n", mtime=0), "is not a Spark event log"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd data"),
        (b'{"Event":"Sp', r"not one of its lines \(1\)"),
    ],
)
def test_what_is_no_event_log_is_said_plainly(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as raised:
        read_event_log(str(path))
    assert str(path) in str(raised.value)


def test_a_path_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_event_log("/nowhere/at/all")


@pytest.mark.parametrize("timed", [True, False])
def test_tasks_without_cpu_time_are_noted_and_no_loss(timed: bool, tmp_path: Path) -> None:
    text = plain_text()
    path = tmp_path / "log"
    path.write_bytes(text if timed else re.sub(rb'"Executor CPU Time":\d+,', b"", text))
    run = read_event_log(str(path))
    assert any("no CPU time" in note.message for note in run.coverage.notes) is not timed
    assert run.coverage.complete
