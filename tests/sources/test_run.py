import json
import shutil

import pytest

from emberscope.errors import InputError
from emberscope.sources.run import NO_EVENT_LOG, NO_RECORDING, load_run
from tests.sources.stored import APP_ID, ENDED_MS, STARTED_MS, add_chunk, recording, whole_run


def notes(run, *codes):
    return [(note.code, note.where, note.lost) for note in run.coverage.notes if note.code in codes]


def test_a_whole_run_is_one_application_with_samples_of_its_tasks(tmp_path):
    run = load_run(str(whole_run(tmp_path)))
    assert run.application.app_id == APP_ID
    assert run.application.attempt == "1"
    assert {"tasks", "stages", "executors", "samples", "stacks", "frames", "spans", "series"} <= run.tables.keys()
    assert run.tables["samples"]["executor_id"].value_counts().to_pylist() == [
        {"values": "0", "counts": 713},
        {"values": "1", "counts": 713},
    ]
    assert run.tables["samples"]["in_span"].to_pylist().count(True) > 0
    assert run.recorder["sample_period_ns"] == 20_000_000
    assert run.recorder["java_versions"] == ["17.0.15"]
    assert notes(run, "executor_lost", "missing_part", "cut", "dropped_events", "not_recorded") == []


def test_counts_of_one_process_are_one_note(tmp_path):
    path = whole_run(tmp_path)
    add_chunk(path, "0", 1, recording("workload-jdk17"))
    assert notes(load_run(str(path)), "truncated_stacks") == [
        ("truncated_stacks", "executor 0", {"samples": 66}),
        ("truncated_stacks", "executor 1", {"samples": 33}),
    ]


def test_an_executor_without_a_recording_lost_its_whole_life(tmp_path):
    path = whole_run(tmp_path)
    shutil.rmtree(path / "recordings/executor-1")
    added_ms = 1796027906020
    assert notes(load_run(str(path)), "executor_lost") == [
        ("executor_lost", "executor 1", {"seconds": (ENDED_MS - added_ms) / 1000})
    ]


def test_an_executor_that_was_killed_lost_what_came_after_its_last_chunk(tmp_path):
    path = whole_run(tmp_path)
    add_chunk(path, "1", 0, recording("workload-jdk17"), last=False, last_ms=STARTED_MS + 40_000)
    assert notes(load_run(str(path)), "executor_lost") == [
        ("executor_lost", "executor 1", {"seconds": (ENDED_MS - STARTED_MS - 40_000) / 1000})
    ]


def test_chunks_that_are_missing_or_damaged_are_notes_and_the_rest_is_read(tmp_path):
    path = whole_run(tmp_path)
    data = recording("workload-jdk17")
    add_chunk(path, "0", 4, data, lost={"chunks": 1, "seconds": 60.5})  # of 1, 2 and 3 it gave one up itself
    (path / "recordings/executor-1").joinpath(f"{STARTED_MS}-000000.jfr").write_bytes(data[:-1000])
    add_chunk(path, "driver", 0, b"not a recording")
    run = load_run(str(path))
    assert ("missing_part", "executor 0", {"chunks": 2.0}) in notes(run, "missing_part")
    assert ("dropped_events", "executor 0", {"chunks": 1, "seconds": 60.5}) in notes(run, "dropped_events")
    assert next(lost for _, where, lost in notes(run, "cut") if "executor-1" in where and lost)["bytes"] == 1000
    assert [where for _, where, lost in notes(run, "missing_part") if lost == {"chunks": 1, "bytes": 15.0}]
    assert run.tables["samples"].num_rows > 713


def test_a_chunk_without_manifest_is_read_and_noted(tmp_path):
    path = whole_run(tmp_path)
    (path / "recordings/executor-1" / f"{STARTED_MS}-000000.json").unlink()
    run = load_run(str(path))
    assert any("executor-1" in where for _, where, _ in notes(run, "missing_part"))
    assert run.tables["samples"]["executor_id"].to_pylist().count("1") == 713


def test_a_run_without_event_log_is_known_by_what_the_driver_wrote(tmp_path):
    path = whole_run(tmp_path)
    shutil.rmtree(path / "eventlog")
    run = load_run(str(path))
    assert (run.application.app_id, run.application.app_name) == (APP_ID, "logged-job")
    assert "tasks" not in run.tables
    assert [note.message for note in run.coverage.notes if note.code == "not_recorded"] == [NO_EVENT_LOG]


def test_a_run_without_recordings_is_its_event_log(tmp_path):
    path = whole_run(tmp_path)
    shutil.rmtree(path / "recordings")
    (path / "application.json").unlink()
    (path / "run.json").write_text(
        json.dumps({"coverage": {"notes": [{"code": "not_recorded", "message": "Not recorded: why.", "where": "x"}]}})
    )
    run = load_run(str(path))
    assert "samples" not in run.tables
    assert run.recorder == {}
    assert notes(run, "not_recorded", "executor_lost") == [("not_recorded", "x", {})]


def test_a_run_whose_recordings_never_arrived_says_so(tmp_path):
    path = whole_run(tmp_path)
    shutil.rmtree(path / "recordings")
    run = load_run(str(path))
    assert "tasks" in run.tables
    assert [note.message for note in run.coverage.notes if note.code == "not_recorded"] == [NO_RECORDING]
    assert not run.coverage.complete


def test_what_arrived_late_is_not_said_to_be_missing_for_ever(tmp_path):
    path = whole_run(tmp_path)
    earlier = [{"code": "not_recorded", "message": NO_RECORDING, "where": str(path)}]
    (path / "run.json").write_text(json.dumps({"coverage": {"notes": earlier}}))
    assert notes(load_run(str(path)), "not_recorded") == []


def test_lines_tell_frames_apart(tmp_path):
    path = str(whole_run(tmp_path))
    assert load_run(path, lines=True).tables["frames"].num_rows > load_run(path).tables["frames"].num_rows


def test_a_run_of_nothing_is_an_error(tmp_path):
    path = whole_run(tmp_path)
    shutil.rmtree(path / "recordings")
    shutil.rmtree(path / "eventlog")
    with pytest.raises(InputError, match="neither an event log nor a recording"):
        load_run(str(path))


def test_two_engines_of_one_executor_are_both_named_and_lose_each_their_own(tmp_path):
    path = whole_run(tmp_path)
    data = recording("workload-jdk17")
    add_chunk(path, "0", 0, data, sample_period_ns=None, lost={"chunks": 1, "seconds": 30.0})
    beside = {"engine": "async-profiler 4.5 (ctimer)", "sample_period_ns": 10_000_000}
    add_chunk(path, "0", 1, data, **beside, lost={"chunks": 2, "seconds": 60.0})
    add_chunk(path, "1", 0, data, **beside)
    run = load_run(str(path))
    assert run.recorder["engine"] == "async-profiler 4.5 (ctimer) + jfr"
    assert run.recorder["sample_period_ns"] == 10_000_000
    assert notes(run, "dropped_events") == [("dropped_events", "executor 0", {"chunks": 3, "seconds": 90.0})]
    (said,) = [note.message for note in run.coverage.notes if note.where == "recorder"]
    assert said.startswith("2 processes sampled CPU by a timer (ctimer), since perf events were refused")
