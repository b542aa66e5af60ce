import shutil

import pytest

from emberscope.sources.collect import collect
from tests.sources.stored import APP_ID, LOG, add_application, add_chunk, recording

PLUGIN = "io.emberscope.EmberscopePlugin"


def gather(store, *, event_log_dir=None, plugin=PLUGIN, problems=(), started_ms=0):
    return collect(
        store,
        "default",
        "i1",
        incoming=store / ".incoming/i1",
        event_log_dir=event_log_dir,
        started_ms=started_ms,
        plugin=plugin,
        problems={"problems": list(problems)},
    )


def arrive(directory, name=APP_ID):
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(LOG, directory / name)


def messages(collected):
    return [note.message for note in collected.notes]


def test_a_log_that_arrived_goes_to_the_recording_of_its_application(tmp_path):
    run = tmp_path / "default" / APP_ID / "1"
    add_application(run)
    add_chunk(run, "0", 0, recording("workload-jdk17"))
    arrive(tmp_path / ".incoming/i1")
    (collected,) = gather(tmp_path)
    assert collected.directory == run
    assert collected.notes == ()
    assert (run / "eventlog" / APP_ID).read_bytes() == LOG.read_bytes()
    assert list((tmp_path / ".incoming/i1").iterdir()) == []


def test_runs_of_other_commands_are_left_alone(tmp_path):
    add_application(tmp_path / "default/other/1", app_id="other", invocation="i2")
    assert gather(tmp_path) == []


def test_two_applications_of_one_command_are_two_runs_in_order(tmp_path):
    add_application(tmp_path / "default/b/1", app_id="b", started_ms=1)
    add_application(tmp_path / "default/a/1", app_id="a", started_ms=2)
    for name in ("a", "b"):
        arrive(tmp_path / ".incoming/i1", name)
    assert [run.directory.parent.name for run in gather(tmp_path)] == ["b", "a"]
    assert (tmp_path / "default/a/1/eventlog/a").exists()


def test_the_users_own_log_is_copied_and_stays(tmp_path):
    logs = tmp_path / "their logs"
    arrive(logs, f"{APP_ID}.zstd.inprogress")
    arrive(logs / f"eventlog_v2_{APP_ID}x", "events_1_x")
    add_application(tmp_path / "s/default" / APP_ID / "1", event_log_dir=logs.as_uri())
    (collected,) = gather(tmp_path / "s")
    assert collected.notes == ()
    assert [path.name for path in (collected.directory / "eventlog").iterdir()] == [f"{APP_ID}.zstd.inprogress"]
    assert len(list(logs.iterdir())) == 2


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"event_log_dir": "s3a://b/logs"}, "The event log lies at s3a://b/logs"),
        ({"event_log_enabled": False}, "sets spark.eventLog.enabled=false"),
        ({"event_log_dir": "/none/such"}, "No event log of this application lies in /none/such"),
        ({"event_log_dir": None}, "No event log was found"),
    ],
)
def test_a_log_that_is_not_here_is_said(tmp_path, said, words):
    add_application(tmp_path / "default" / APP_ID / "1", **said)
    (collected,) = gather(tmp_path)
    assert words in messages(collected)[0]


def test_a_log_without_a_recording_is_a_run_that_says_why(tmp_path):
    arrive(tmp_path / ".incoming/i1")
    (collected,) = gather(tmp_path)
    assert collected.directory == tmp_path / "default" / APP_ID / "1"
    assert messages(collected) == [
        f"Not recorded: the application sets spark.plugins itself. Add {PLUGIN} to that value."
    ]


def test_nothing_is_missed_where_no_recorder_was_asked_for(tmp_path):
    arrive(tmp_path / ".incoming/i1")
    (collected,) = gather(tmp_path, plugin=None)
    assert collected.notes == ()


def test_a_log_that_cannot_be_read_is_kept_all_the_same(tmp_path):
    (tmp_path / ".incoming/i1").mkdir(parents=True)
    (tmp_path / ".incoming/i1/app-9.inprogress").touch()
    (collected,) = gather(tmp_path)
    assert collected.directory == tmp_path / "default/app-9/1"


def test_in_the_users_directory_only_logs_of_this_command_are_taken(tmp_path):
    arrive(tmp_path / "logs")
    assert gather(tmp_path / "s", event_log_dir=str(tmp_path / "logs")) == []
