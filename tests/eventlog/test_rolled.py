"""Rolled files of several logs loose in one folder: each log is told by the names of its files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.errors import InputError
from emberscope.eventlog.parts import parts_of
from emberscope.eventlog.read import read_event_log
from emberscope.eventlog.rolled import logs_among, whose
from emberscope.sources.load import find_inputs
from tests.eventlog.logs import DATA, ROLLED, plain_text

LOST = next((DATA / "spark-4.3-executor-loss").iterdir())
APP, LOST_APP = "app-20261130085753-0000", "app-20261130124114-0000"


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """The parts of two applications, and those of the second attempt of one of them, without their folders."""
    for log in (ROLLED, LOST):
        for path in log.iterdir():
            shutil.copy(path, tmp_path)
    for path in ROLLED.glob("events_*"):
        number = path.name.split("_")[1]
        shutil.copy(path, tmp_path / f"events_{number}_{APP}_2.zstd")
    return tmp_path


def test_names_say_whose_a_file_is() -> None:
    names = ["events_1_app-1", "events_10_app-1.zstd", "events_2_app-1.lz4.compact", "events_1_app-1_2.zstd"]
    assert [whose(name) for name in names] == ["app-1", "app-1", "app-1", "app-1_2"]
    assert whose("appstatus_app-1") is None
    assert logs_among([*names, "appstatus_app-1", "notes"]) == ["app-1", "app-1_2"]


@pytest.mark.parametrize("verb", ["summary", "diagnose"])
def test_each_log_of_a_folder_is_read_by_itself(verb: str, loose: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([verb, str(loose), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    # What the two attempts say is the same here: copies are diagnosed once.
    assert [app["app_id"] for app in document["apps"]] == [APP, *([APP] if verb == "summary" else []), LOST_APP]
    names = [item["path"].removeprefix(f"{loose}/") for item in document["inputs"]]
    assert names == [f"events_*_{APP}", f"events_*_{APP}_2", f"events_*_{LOST_APP}"]


def test_a_loose_log_has_the_tables_of_the_one_in_its_folder(loose: Path) -> None:
    here, there = read_event_log(f"{loose}/events_*_{APP}"), read_event_log(str(ROLLED))
    assert (here.application, here.tables, here.coverage) == (there.application, there.tables, there.coverage)


def test_it_can_be_given_by_its_name_and_the_folder_only_to_verbs_of_many(
    loose: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(loose)
    assert exit_code(["summary", f"events_*_{LOST_APP}", "--json"]) == 0
    assert [app["app_id"] for app in json.loads(capsys.readouterr().out)["apps"]] == [LOST_APP]
    with pytest.raises(InputError, match=rf"holds 3 event logs\..*events_\*_{APP}, events_\*_{APP}_2, "):
        parts_of(str(loose))
    with pytest.raises(InputError, match="no such file"):
        find_inputs(str(loose / "events_*_app-of-nobody"))


def test_a_part_that_is_missing_is_told_of_its_own_log_only(loose: Path) -> None:
    (loose / f"events_1_{APP}.zstd").unlink()
    codes = {
        log: [note.code for note in read_event_log(f"{loose}/events_*_{log}").coverage.notes if note.code != "redacted"]
        for log in (APP, f"{APP}_2")
    }
    assert "missing_part" in codes[APP]
    assert "missing_part" not in codes[f"{APP}_2"]


def test_other_logs_beside_them_are_read_too(loose: Path) -> None:
    (loose / "local-1").write_bytes(plain_text())
    found, problems = find_inputs(str(loose))
    assert problems == []
    assert [Path(item.path).name for item in found][-1] == "local-1"
    assert len(found) == 4
