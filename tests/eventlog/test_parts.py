"""Which files make one log, and in which order."""

from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.eventlog.databricks import natural_key
from emberscope.eventlog.parts import parts_of
from emberscope.eventlog.read import read_event_log
from tests.eventlog.logs import DATA, ROLLED, plain_text

_LINE = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n'


def _write(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(_LINE)
    return folder


def _names(folder: Path) -> list[str]:
    parts, _ = parts_of(str(folder))
    return [Path(part.path).name for part in parts]


def test_rolled_files_go_by_number(tmp_path: Path) -> None:
    folder = _write(tmp_path / "log", *(f"events_{n}_app" for n in range(1, 13)), "appstatus_app", ".events_1_app.crc")
    assert _names(folder) == [f"events_{n}_app" for n in range(1, 13)]
    assert parts_of(str(folder))[1] == []


def test_rolled_files_may_begin_with_0_as_those_of_emr_do(tmp_path: Path) -> None:
    folder = _write(tmp_path / "log", *(f"events_{n}_app" for n in range(3)), "appstatus_app")
    assert _names(folder) == [f"events_{n}_app" for n in range(3)]
    assert parts_of(str(folder))[1] == []
    (folder / "events_0_app").unlink()
    assert _names(folder) == ["events_1_app", "events_2_app"]


def test_a_compacted_file_stands_for_all_before_it(tmp_path: Path) -> None:
    folder = _write(tmp_path / "log", "events_1_app", "events_2_app.compact", "events_2_app", "events_3_app")
    assert _names(folder) == ["events_2_app.compact", "events_3_app"]


def test_missing_and_repeated_files_are_noted(tmp_path: Path) -> None:
    folder = _write(tmp_path / "log", "events_2_app", "events_4_app", "events_4_app.zstd")
    parts, notes = parts_of(str(folder))
    assert len(parts) == 2
    assert {note.code: note.message for note in notes} == {
        "duplicate_part": "events_4_app.zstd repeats part 4 and was left out.",
        "missing_part": "2 rolled files are missing: 1, 3.",
    }
    assert not read_event_log(str(folder)).coverage.complete


def test_databricks_names(tmp_path: Path) -> None:
    folder = _write(tmp_path / "log", "eventlog", "eventlog-2024-01-01--10-00", "eventlog-2024-01-01--09-00")
    assert _names(folder) == ["eventlog-2024-01-01--09-00", "eventlog-2024-01-01--10-00", "eventlog"]


def test_a_folder_with_one_log_is_that_log(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not an event log")
    (tmp_path / "app-1.inprogress").write_bytes(plain_text())
    assert _names(tmp_path) == ["app-1.inprogress"]
    assert read_event_log(str(DATA / "spark-4.3")).application == read_event_log(str(ROLLED)).application


def test_folders_without_or_with_several_logs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no Spark event log"):
        parts_of(str(tmp_path))
    _write(tmp_path, "app-1", "app-2")
    with pytest.raises(InputError, match=r"holds 2 event logs.*app-1, app-2"):
        parts_of(str(tmp_path))
    empty = tmp_path / "eventlog_v2_app"
    empty.mkdir()
    (empty / "events_1_app").touch()
    with pytest.raises(InputError, match="without any event yet"):
        parts_of(str(empty))


def test_numbers_in_names_are_numbers() -> None:
    assert sorted(["a10", "a9", "b", "a"], key=natural_key) == ["a", "a9", "a10", "b"]
