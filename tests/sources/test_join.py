from dataclasses import replace

from emberscope.sources.join import join
from emberscope.sources.load import load
from emberscope.tables.coverage import Coverage
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import Application, Run
from tests.sources.stored import DATA, LOG, STARTED_MS

JFR = DATA / "jfr/workload-jdk17.jfr.gz"


def at(run, start_ms):
    return replace(run, recordings=tuple(replace(facts, start_ms=start_ms) for facts in run.recordings))


def test_a_recording_goes_to_the_log_of_its_time():
    log, recording = load(str(LOG)), at(load(str(JFR)), STARTED_MS + 5)
    (together,) = join([recording, log])
    assert together.application.app_name == "logged-job"
    assert together.tables["samples"] is recording.tables["samples"]
    assert together.recordings == recording.recordings


def test_what_may_belong_to_two_stays_apart():
    log, recording = load(str(LOG)), at(load(str(JFR)), STARTED_MS + 5)
    assert len(join([log, log, recording])) == 3
    assert len(join([log, at(recording, STARTED_MS - 3_600_000)])) == 2
    assert join([log]) == [log]
    assert join([]) == []


def said(path, *times, app_id=None, **more):
    """A run of lines at these times of an application that `logged-job` is, or that has another name."""
    rows = [
        {"event_id": n, "time_ms": at, "last_ms": at, "count": 1, "file": path, "line": n + 1, "text": f"{path} {n}"}
        for n, at in enumerate(times)
    ]
    return Run(path, Application(app_id=app_id, **more), {"log_events": LOG_EVENTS.from_rows(rows)}, Coverage())


def test_all_that_names_one_application_is_one_run_on_one_clock():
    log = load(str(LOG))
    name, at = log.application.app_id, STARTED_MS
    pods, driver = said("pods.json", at + 30, app_id=name, user="etl"), said("driver.log", at + 10, None, app_id=name)
    other = said("other.log", at + 20, app_id="application_1_2")
    together, apart = join([pods, log, driver, other])
    assert (together.path, apart.path) == (log.path, "other.log")
    assert together.tables["tasks"] is log.tables["tasks"]
    events = together.tables["log_events"].to_pylist()
    assert [(one["event_id"], one["file"], one["time_ms"]) for one in events] == [
        (0, "driver.log", at + 10),
        (1, "pods.json", at + 30),
        (2, "driver.log", None),
    ]
    assert together.application.app_end_ms == log.application.app_end_ms


def test_what_names_no_application_goes_to_the_only_one_of_its_time():
    log = load(str(LOG))
    near, clockless = said("a.log", STARTED_MS + 5), said("b.log", None)
    assert len(join([near, log, clockless])) == 1
    far = join([log, said("far.log", STARTED_MS - 86_400_000)])
    assert [note.message for run in far for note in run.coverage.notes if note.code == "limited"] == [
        "It names no application, and the other is of another time: it is told by itself."
    ]
    other = said("c.log", STARTED_MS, app_id="application_1_2")
    apart = join([log, near, other])
    assert [note.where for run in apart for note in run.coverage.notes if note.code == "limited"] == ["a.log"]
    assert all(run.coverage.complete for run in apart)


def test_logs_that_name_no_application_are_of_one():
    (together,) = join([said("a.log", 5), said("b.log", 3)])
    assert [one["file"] for one in together.tables["log_events"].to_pylist()] == ["b.log", "a.log"]


def test_two_attempts_stay_apart():
    first, second = (said(f"{n}.log", 5, app_id="application_1_2", attempt=n) for n in "12")
    assert len(join([first, second])) == 2


def test_a_line_that_was_read_twice_is_there_once():
    one = said("a.log", 5, 6, app_id="x")
    (together,) = join([one, replace(one, path="again")])
    assert together.tables["log_events"].num_rows == 2


def test_a_recorded_run_and_its_event_log_are_one():
    log, recording = load(str(LOG)), at(load(str(JFR)), STARTED_MS + 5)
    (recorded,) = join([log, recording])
    recorded = replace(recorded, path="run")
    (together,) = join([log, said("d.log", STARTED_MS, app_id=log.application.app_id), recorded])
    assert together.path == "run"
    assert together.tables["samples"] is recording.tables["samples"]
    assert "log_events" in together.tables
