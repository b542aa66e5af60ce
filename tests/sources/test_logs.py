"""Logs as inputs: files, folders, packed ones, damaged ones."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.logs.signature import Signature
from emberscope.sources.load import find_inputs, load_input
from emberscope.sources.log_clocks import in_step, on_clock_of, zone_ms
from emberscope.sources.logs import load_log, run_of_text, with_log_events
from tests.rules.logs import PATHS, log_run

HEAP = Signature("heap", r"OutOfMemoryError: (?P<what>.+)", ("java.lang.OutOfMemoryError",))
FAILED = "21/02/03 07:55:00 ERROR Executor: Exception in task 0.0\njava.lang.OutOfMemoryError: Java heap space\n"


def container(folder: Path, app: int, number: int, text: str = FAILED) -> Path:
    """A folder of `yarn.nodemanager.log-dirs` as YARN lays it out."""
    name = f"container_1612338900000_{app:04d}_01_{number:06d}"
    path = folder / f"application_1612338900000_{app:04d}" / name / "stderr"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_containers_of_one_application_are_one_input(tmp_path: Path) -> None:
    for number in range(1, 40):
        container(tmp_path, 7, number)
    found, problems = find_inputs(str(tmp_path))
    assert ([item.kind for item in found], problems) == (["container_log"], [])

    run = load_input(found[0], signatures=(HEAP,))

    assert run.application.app_id == "application_1612338900000_0007"
    assert run.application.lines == 2 * 39
    rows = run.tables["log_events"].to_pylist()
    assert len({row["container_id"] for row in rows}) == 39
    assert rows[0]["role"] == "am"


def test_two_applications_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    container(tmp_path, 7, 2)
    container(tmp_path, 8, 2)
    found, _ = find_inputs(str(tmp_path))
    apps = [load_input(item).application.app_id for item in found]
    assert apps == ["application_1612338900000_0007", "application_1612338900000_0008"]


def test_a_daemon_that_serves_many_belongs_to_none(tmp_path: Path) -> None:
    container(tmp_path, 7, 2)
    container(tmp_path, 8, 2)
    (tmp_path / "hadoop-yarn-nodemanager-host-1.log").write_text(
        "2021-02-03 07:55:00,000 WARN org.apache.hadoop.yarn.server.nodemanager.containermanager.monitor."
        "ContainersMonitorImpl: Container container_1612338900000_0008_01_000002 is running beyond physical limits\n"
    )
    found, _ = find_inputs(str(tmp_path))
    apps = {load_input(item).application.app_id: load_input(item) for item in found}
    assert set(apps) == {"application_1612338900000_0007", "application_1612338900000_0008", None}
    assert apps[None].tables["log_events"]["app_id"].to_pylist() == ["application_1612338900000_0008"]


@pytest.mark.parametrize("cut", [0, 10])
def test_packed_logs_are_read_as_far_as_they_go(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "stderr.gz"
    packed = gzip.compress((FAILED * 2000).encode())
    path.write_bytes(packed[: len(packed) - cut])
    run = load_log(str(path), (HEAP,))
    assert run.coverage.complete == (cut == 0)
    counts = run.tables["log_events"]["count"].to_pylist()
    assert counts == [2000] if not cut else 1900 < sum(counts) <= 2000


def test_one_log_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    good = container(tmp_path, 7, 1)
    run = load_log(str(tmp_path), (HEAP,), files=[str(good), str(tmp_path / "gone")])
    assert run.tables["log_events"].num_rows == 1
    assert [note.code for note in run.coverage.notes] == ["missing_part"]
    with pytest.raises(InputError):
        load_log(str(tmp_path), (HEAP,), files=[str(tmp_path / "gone")])


def test_the_errors_of_an_event_log_are_rows_too() -> None:
    name = next(name for name in PATHS if "jobs" in log_run(name).tables and _has_failed_jobs(name))
    failed = Signature(
        "failed", r"Job aborted due to stage failure: (?P<why>.+)", ("Job aborted due to stage failure",)
    )
    rows = with_log_events(log_run(name), (failed,)).tables["log_events"].to_pylist()
    assert any("failed" in row["signatures"] and row["file"] == log_run(name).path for row in rows)


def _has_failed_jobs(name: str) -> bool:
    messages = log_run(name).tables["jobs"]["error_message"].to_pylist()
    return any(message and "Job aborted due to stage failure" in message for message in messages)


DRIVER = (
    "21/02/03 07:50:00 INFO SparkContext: Running Spark version 3.0.1\n"
    "21/02/03 07:50:09 INFO YarnAllocator: Launching container container_1612338900000_0007_01_000002 on host "
    "host-2.example.com for executor with ID 1 with resource profile 0\n"
    "21/02/03 07:50:12 INFO YarnSchedulerBackend$YarnDriverEndpoint: Registered executor "
    "NettyRpcEndpointRef(spark-client://Executor) (10.0.0.2:41234) with ID 1,  ResourceProfileId 0\n"
)
"""Lines of Spark 3.0's SparkContext, YarnAllocator and CoarseGrainedSchedulerBackend."""


def test_logs_in_another_zone_are_put_on_the_clock_of_the_driver(tmp_path: Path) -> None:
    driver = container(tmp_path, 7, 1, DRIVER)
    theirs = (
        "21/02/03 09:50:10 INFO YarnCoarseGrainedExecutorBackend: Starting executor ID 1 on host host-2.example.com\n"
        + FAILED.replace("07:55:00", "09:55:00")
    )
    executor = container(tmp_path, 7, 2, theirs)

    run = load_log(str(tmp_path), (HEAP,), files=[str(driver), str(executor)])

    (row,) = (row for row in run.tables["log_events"].to_pylist() if "heap" in row["signatures"])
    assert row["time_ms"] == 1612338900000
    assert (row["executor_id"], row["host"], row["role"]) == ("1", "host-2.example.com", "executor")
    assert [note.code for note in run.coverage.notes] == ["clock_skew"]
    assert (run.application.spark_version, run.application.app_start_ms) == ("3.0.1", 1612338600000)


def test_a_container_is_known_by_what_the_driver_said_of_it(tmp_path: Path) -> None:
    files = [container(tmp_path, 7, 1, DRIVER), container(tmp_path, 7, 2)]
    run = load_log(str(tmp_path), (HEAP,), files=[str(file) for file in files])
    (row,) = (row for row in run.tables["log_events"].to_pylist() if "heap" in row["signatures"])
    assert (row["executor_id"], row["host"]) == ("1", "host-2.example.com")


def test_a_log_is_put_on_the_clock_of_its_event_log(tmp_path: Path) -> None:
    event_log = log_run(next(name for name in PATHS if log_run(name).application.app_start_ms))
    start_ms = event_log.application.app_start_ms
    assert start_ms is not None
    application = replace(event_log.application, app_start_ms=start_ms + 5_400_000 + 700)
    text = "21/02/03 07:50:00 INFO SparkContext: Running Spark version 3.0.1\n" + FAILED
    log = replace(run_of_text(text, (HEAP,)), application=application)

    assert on_clock_of(log, event_log).application == in_step([log, event_log])[0].application
    moved = on_clock_of(log, event_log)

    assert "1.5 h ahead of the event log's" in moved.coverage.notes[0].message
    assert in_step([moved, event_log, event_log])[0] is moved
    assert moved.application.app_start_ms == start_ms + 700
    assert moved.tables["log_events"]["time_ms"].to_pylist() == [1612338600000 - 5_400_000, 1612338900000 - 5_400_000]
    assert zone_ms({"1": 0}, {"1": 7 * 60_000}) == 0


def test_what_lies_beside_a_log_in_a_folder_of_yarn_is_no_fault(tmp_path: Path) -> None:
    folder = container(tmp_path, 7, 2).parent
    (folder / "stdout").write_text("loaded 12 rows\ndone\n")
    (folder / "prelaunch.err").write_text("")
    (folder / "launch_container.sh").write_text("#!/bin/bash\nexport X=1\n")
    (folder / "prelaunch.out").write_text("Setting up env variables\nLaunching container\n")

    found, problems = find_inputs(str(tmp_path))

    assert problems == []
    assert [sorted(Path(file).name for file in item.files) for item in found] == [["prelaunch.out", "stderr", "stdout"]]


def test_texts_that_lie_alone_are_told_as_before(tmp_path: Path) -> None:
    container(tmp_path / "logs", 7, 2)
    (tmp_path / "diary").write_text("Dear diary\n")
    (tmp_path / "job.py").write_text("spark.range(9).repartition(3).show()  # why does Spark shuffle the partitions?\n")
    found, problems = find_inputs(str(tmp_path))
    assert [item.kind for item in found] == ["container_log"]
    assert [Path(error.path).name for error in problems] == ["diary", "job.py"]
