import io
import shutil
import sys

import pytest

from emberscope.errors import InputError, UsageError
from emberscope.sources.load import Input, find_inputs, load, of_many, standard_input
from tests.sources.stored import DATA, LOG, whole_run

JFR = DATA / "jfr/workload-jdk17.jfr.gz"


def kinds(path):
    found, problems = find_inputs(str(path))
    return [item.kind for item in found], len(problems)


def test_one_of_each_kind(tmp_path):
    assert kinds(LOG) == (["event_log"], 0)
    assert kinds(JFR) == (["recording"], 0)
    assert kinds(whole_run(tmp_path)) == (["run"], 0)
    assert kinds(tmp_path) == (["run"], 0)
    assert kinds(next((DATA / "eventlog/spark-4.3").iterdir())) == (["event_log"], 0)


def test_a_directory_of_logs_is_several_inputs_and_what_is_none_is_told(tmp_path):
    shutil.copy(LOG, tmp_path / "a")
    shutil.copy(LOG, tmp_path / "b")
    (tmp_path / "notes.txt").write_text("hello")
    assert kinds(tmp_path) == (["event_log", "event_log"], 1)


def test_a_directory_of_recordings_is_one_recording(tmp_path):
    shutil.copy(JFR, tmp_path / "1.jfr")
    shutil.copy(JFR, tmp_path / "2.jfr")
    run = load(str(tmp_path))
    assert len(run.recordings) == 2
    assert run.tables["samples"].num_rows == 2 * 713
    assert not any(note.code == "missing_part" for note in run.coverage.notes)


def test_the_kind_can_be_given_where_content_does_not_tell(tmp_path):
    (tmp_path / "x").write_text("hello")
    with pytest.raises(InputError, match="is not a Spark event log"):
        load(str(tmp_path / "x"), "event_log")
    with pytest.raises(UsageError, match="inputs of kind 'pprof' cannot be read"):
        load(str(tmp_path / "x"), "pprof")


def test_standard_input_is_a_file_for_the_length_of_the_block(monkeypatch):
    class Piped:
        buffer = io.BytesIO(LOG.read_bytes())

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Piped())
    with standard_input("-") as path:
        assert load(path).application.app_name == "logged-job"
    with pytest.raises(InputError, match="there is no such file"):
        load(path)


def test_a_directory_gives_all_its_members(tmp_path):
    """Logs, rolling logs, recordings and runs at any of a few depths; what is none of it is told, all of it."""
    (tmp_path / "deep/er/est").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    shutil.copy(LOG, tmp_path / "z-log")
    shutil.copy(LOG, tmp_path / "deep/er/est/log")
    shutil.copytree(next((DATA / "eventlog/spark-4.3").iterdir()), tmp_path / "deep/rolling")
    shutil.copy(JFR, tmp_path / "a.jfr")
    shutil.copy(JFR, tmp_path / "deep/b.jfr")
    run = whole_run(tmp_path / "deep/store")
    (tmp_path / "deep/junk").write_text("hello")
    (tmp_path / "nothing").touch()
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden").write_text("hello")
    (tmp_path / "earlier.json").write_text('{\n "schema": "emberscope.diagnose/1"}')
    (tmp_path / "deep/loop").symlink_to(tmp_path)
    found, problems = find_inputs(str(tmp_path))
    here = [(item.kind, item.path.removeprefix(f"{tmp_path}/")) for item in found]
    assert here == [
        ("event_log", "deep/er/est/log"),
        ("event_log", "deep/rolling"),
        ("event_log", "z-log"),
        ("recording", str(tmp_path)),
        ("run", str(run.relative_to(tmp_path))),
    ]
    assert [file.removeprefix(f"{tmp_path}/") for file in found[3].files] == ["a.jfr", "deep/b.jfr"]
    assert [error.path.removeprefix(f"{tmp_path}/") for error in problems] == ["deep/junk", "nothing"]


@pytest.mark.parametrize(
    ("kinds", "many"),
    [
        (["event_log"], False),
        (["event_log", "recording"], False),
        (["archive", "archive"], False),
        (["event_log", "event_log"], True),
        (["recording", "recording"], True),
        (["event_log", "recording", "run"], True),
    ],
)
def test_of_many_inputs_none_is_joined_with_another(kinds, many):
    assert [item.of_many for item in of_many([Input("x", kind) for kind in kinds])] == [many] * len(kinds)


def test_folders_too_deep_are_told(tmp_path):
    shutil.copy(LOG, tmp_path / "log")
    (tmp_path / "1/2/3/4/5/6/7/8/9/10").mkdir(parents=True)
    found, problems = find_inputs(str(tmp_path))
    assert len(found) == 1
    assert ["lies more than 8 folders deep" in str(error) for error in problems] == [True]
