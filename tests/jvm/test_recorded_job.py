"""Real Spark with the plugin: what it leaves for each process, however the application ends."""

import hashlib
from itertools import pairwise
from pathlib import Path

import pytest

from emberscope.eventlog.read import read_event_log
from emberscope.profile.codegen import plan_node_of_samples, whole_stages
from emberscope.sources.recording import load_recording
from tests.jvm.recorded import OUTPUT, Finished, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jar")]


def _whole(finished: Finished, *processes: str) -> None:
    """Every process left whole chunks, of each engine an unbroken series that ends with the one marked last."""
    assert finished.status["problems"] == []
    assert set(finished.processes()) == set(processes)
    for manifests in finished.processes().values():
        assert [manifest["sequence"] for manifest in manifests] == list(range(len(manifests)))
        assert {manifest["engine"] for manifest in manifests} == {"jfr", "wall-sampler"}
        for engine in ("jfr", "wall-sampler"):
            own = [manifest for manifest in manifests if manifest["engine"] == engine]
            assert [manifest["last"] for manifest in own] == [False] * (len(own) - 1) + [True]
            assert len({manifest["first_ms"] for manifest in own}) == len(own)
            for before, after in pairwise(own):
                assert before["last_ms"] <= after["first_ms"] + 1
    chunks = {(path.parent.name, path.stem): path.read_bytes() for path in finished.store.rglob("*.jfr")}
    assert len(chunks) == len(finished.manifests)
    for manifest in finished.manifests:
        process = f"{manifest['role']}-{manifest['executor_id']}"
        data = chunks[process, f"{manifest['first_ms']}-{manifest['sequence']:06d}"]
        assert (manifest["bytes"], manifest["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        assert manifest["lost"] == {"chunks": 0, "bytes": 0, "seconds": 0.0}
    assert not list(finished.store.rglob(".*")), "nothing half-written is left"
    silent = [line for line in finished.err.splitlines() if "emberscope" in line.lower() and " INFO " not in line]
    assert silent == []


def test_every_task_of_a_cluster_has_its_span_to_the_very_last(tmp_path: Path) -> None:
    finished = run(tmp_path, master="local-cluster[2,1,1024]", conf={"spark.emberscope.chunk.seconds": "2"})
    assert (finished.code, finished.out) == (0, OUTPUT)
    _whole(finished, "driver-driver", "executor-0", "executor-1")

    tasks = read_event_log(str(next(finished.log.iterdir()))).tables["tasks"].to_pylist()
    spans = finished.spans()
    outcomes = {span["task_id"]: span["outcome"] for span in spans if span["outcome"] is not None}
    assert set(outcomes) == {task["task_id"] for task in tasks}
    assert sorted(outcomes.values()) == ["failed"] + ["success"] * (len(tasks) - 1)
    starts = {span["task_id"] for span in spans if span["outcome"] is None}
    assert starts == set(outcomes)
    by_task = {task["task_id"]: task for task in tasks}
    for span in spans:
        task = by_task[span["task_id"]]
        for name in ("stage_id", "stage_attempt", "partition", "attempt"):
            assert span[name] == task[name]
        assert (span["job_group"], span["description"]) == ("the group", "a description of this very job, für alle")
    assert {span["sql_execution_id"] is None for span in spans} == {True, False}, "SQL and RDD tasks differ"
    threads = {span["task_id"]: span["cpu_ns"] for span in spans if span["end_ns"] is not None}
    assert None not in threads.values()
    # Spark's own figure is of the task alone, that of its span holds what surrounds it too.
    assert sum(threads.values()) > 0.9 * sum(task["executor_cpu_time_ns"] or 0 for task in tasks) > 0

    recorded = load_recording(str(finished.store), files=[*map(str, finished.store.rglob("*.jfr"))]).tables
    plans = read_event_log(str(next(finished.log.iterdir()))).tables["plan_nodes"]
    codes, nodes = plan_node_of_samples(recorded["samples"], recorded["stacks"], recorded["frames"], plans)
    at_work = {(whole.sql_execution_id, whole.node_id): whole for whole in whole_stages(plans)}
    generated = [row for row, code in zip(recorded["samples"].to_pylist(), codes, strict=True) if code >= 0]
    places = [at_work[row["sql_execution_id"], node] for row, node in zip(generated, nodes[codes >= 0], strict=True)]
    assert places, "the loop of eight million rows is seen"
    assert all(row["stage_id"] in place.stage_ids for row, place in zip(generated, places, strict=True))
    assert "Range" in {operator for place in places for operator in place.operators}

    application = finished.application()
    assert application["app_id"] == finished.status["app_id"]
    assert application["master"] == "local-cluster[2,1,1024]"
    assert application["app_name"] == "recorded job"
    assert application["engine"] == "jfr + wall-sampler"
    assert None not in {application[name] for name in ("user", "spark_version", "scala_version", "started_ms")}


def test_a_job_that_fails_keeps_its_code_and_leaves_a_whole_run(tmp_path: Path) -> None:
    finished = run(tmp_path, end="exit")
    assert (finished.code, finished.out) == (7, OUTPUT)
    _whole(finished, "driver-driver")
    assert {span["outcome"] for span in finished.spans()} == {None, "success", "failed"}


def test_an_interrupted_job_leaves_a_whole_run(tmp_path: Path) -> None:
    finished = run(tmp_path, end="wait", interrupt=True)
    assert finished.code == 130
    _whole(finished, "driver-driver")


def test_a_store_that_cannot_be_written_costs_the_job_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a directory")
    finished = run(tmp_path, end="exit", store=str(tmp_path / "taken"))
    assert (finished.code, finished.out) == (7, OUTPUT)
    assert set(finished.problems) == {"ship"}
    assert "taken" in finished.problems["ship"]


def test_an_event_log_of_ours_that_cannot_begin_does_not_stop_the_job(tmp_path: Path) -> None:
    gone = tmp_path / "store" / ".incoming" / "abc"  # as `emberscope run` makes it, and as it is on a full disk: no use
    conf = {"spark.eventLog.dir": gone.as_uri(), "spark.emberscope.invocation": "abc"}
    finished = run(tmp_path, end="exit", conf=conf)
    assert (finished.code, finished.out) == (7, OUTPUT)
    assert set(finished.problems) == {"event log"}
    assert finished.application()["event_log_enabled"] is False


def test_too_little_disk_for_flight_recorder_ends_the_recording_and_not_the_jvm(tmp_path: Path) -> None:
    finished = run(tmp_path, end="exit", conf={"spark.emberscope.budget.free": "1000000g"})
    assert (finished.code, finished.out) == (7, OUTPUT)
    assert set(finished.problems) == {"start", "events"}
    assert "(spark.emberscope.budget.free)" in finished.problems["start"]
    assert {manifest["engine"] for manifest in finished.manifests} == {"wall-sampler"}, "which needs no disk"
    assert finished.application()["engine"] == "wall-sampler"


# A fault in `receive` hides what executors say, and one in `driver.init` keeps the rest from starting: hence groups.
FAULTS = {
    "driver.init,executor.init,receive": {"driver.init", "receive"},
    "executor.init,registerMetrics,driver.shutdown,thread.start,thread.ship": {
        "executor.init",
        "registerMetrics",
        "driver.shutdown",
        "start",
        "ship",
    },
    "thread.tick": {"recorder"},
    "onTaskStart,onTaskSucceeded,onTaskFailed,executor.shutdown": {
        "onTaskStart",
        "onTaskSucceeded",
        "onTaskFailed",
        "executor.shutdown",
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_hook_that_throws_does_not_reach_the_job(tmp_path: Path, fault: str) -> None:
    finished = run(tmp_path, conf={"spark.emberscope.fault": fault})
    assert (finished.code, finished.out) == (0, OUTPUT)
    assert FAULTS[fault] <= set(finished.problems)
    assert all("asked for by spark.emberscope.fault" in message for message in finished.problems.values())


def test_budgets_that_cannot_be_measured_keep_no_chunk_back(tmp_path: Path) -> None:
    conf = {"spark.emberscope.fault": "thread.budget", "spark.emberscope.chunk.seconds": "1"}
    finished = run(tmp_path, conf=conf)
    assert (finished.code, finished.out) == (0, OUTPUT)
    assert set(finished.problems) == {"budget"}
    engines = [manifest["engine"] for manifest in finished.manifests]
    assert min(engines.count("jfr"), engines.count("wall-sampler")) > 1


def test_switched_off_it_does_nothing(tmp_path: Path) -> None:
    finished = run(tmp_path, conf={"spark.emberscope.enabled": "false"})
    assert (finished.code, finished.out) == (0, OUTPUT)
    assert not finished.store.exists()


def test_a_setting_that_cannot_be_used_is_said_and_its_default_holds(tmp_path: Path) -> None:
    conf = {"spark.emberscope.rate.cpu": "often", "spark.emberscope.engine": "perf", "spark.emberscope.events": "cpu,x"}
    finished = run(tmp_path, conf=conf)
    assert (finished.code, finished.out) == (0, OUTPUT)
    said = "\n".join(problem["message"] for problem in finished.status["problems"])
    assert "spark.emberscope.rate.cpu=often cannot be used, so 20ms holds" in said
    assert "spark.emberscope.engine=perf is not known, so jfr is used" in said
    assert "x is none of" in said
    assert {tuple(manifest["events"]) for manifest in finished.manifests} == {("cpu",)}
    assert {manifest["sample_period_ns"] for manifest in finished.manifests} == {20_000_000}
