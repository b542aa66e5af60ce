"""Archives as inputs of the verbs, and folders that hold what must not be followed or cannot be read."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from tests.eventlog.logs import plain_text
from tests.sources.archives import APP_35, APP_43, cut_log, rolled_files, tarred, zipped

NOBODY = 65534
LOG = plain_text()


def summary(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object], str]:
    code = exit_code(["summary", *words, "--json"])
    out, err = capsys.readouterr()
    assert out, err
    return code, json.loads(out), err


def ids(document: dict[str, object]) -> list[str]:
    apps = document["apps"]
    assert isinstance(apps, list)
    return [app["app_id"] for app in apps]


def places(document: dict[str, object]) -> list[str]:
    inputs = document["inputs"]
    assert isinstance(inputs, list)
    return [item["path"] for item in inputs]


def test_several_applications_in_one_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zipped({"x/log": LOG, **{f"x/{name}": data for name, data in rolled_files().items()}}))
    code, document, err = summary([str(path)], capsys)
    assert (code, err) == (0, "")
    assert sorted(ids(document)) == [APP_35, APP_43]
    assert sorted(places(document)) == [f"{path}/x/eventlog_v2_{APP_43}", f"{path}/x/log"]


def test_bad_members_are_told_and_the_rest_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "logs.tgz"
    path.write_bytes(tarred({"log": LOG, "notes.txt": b"hello", "../out": LOG}))
    code, document, err = summary([str(path)], capsys)
    assert code == 3
    assert ids(document) == [APP_35]
    assert sorted(places(document)) == [f"{path}/../out", f"{path}/log", f"{path}/notes.txt"]
    assert len(err.splitlines()) == 1
    assert "And 1 more input could not be read" in err


def test_archives_in_a_folder_are_read_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"application_1": LOG}))
    (tmp_path / "b").write_bytes(cut_log(20))
    (tmp_path / "c.zip").write_bytes(b"PK\3\4 nothing")
    code, document, err = summary([str(tmp_path)], capsys)
    assert code == 3
    assert ids(document) == [APP_35, APP_35]
    assert "c.zip" in err


@pytest.mark.parametrize("words", [["summary", "-", "--json"], ["report", "-", "-o", "-"], ["diagnose", "-"]])
def test_an_archive_on_standard_input(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "emberscope.cli.main", *words],
        input=zipped({"log": LOG, "lost": b"hello"}),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    for temporary in (b"emberscope-stdin", b"emberscope-archive"):
        assert temporary not in done.stdout + done.stderr
    assert b"standard input/lost" in done.stderr
    assert len(done.stdout) > 200


def test_links_that_leave_the_folder_are_not_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "log").write_bytes(LOG)
    (outside / "folder/log").write_bytes(LOG)
    given = tmp_path / "given"
    (given / "real").mkdir(parents=True)
    (given / "real/log").write_bytes(cut_log(20))
    (given / "within").symlink_to("real/log")
    (given / "file").symlink_to(outside / "log")
    (given / "dir").symlink_to("../outside/folder")
    code, document, err = summary([str(given)], capsys)
    assert code == 3
    assert places(document) == [f"{given}/real/log", f"{given}/within", f"{given}/dir", f"{given}/file"]
    assert "leads out of the folder" in err
    (tmp_path / "alias").symlink_to(given)
    assert ids(summary([f"{tmp_path}/alias"], capsys)[1]) == [APP_35, APP_35]


def test_a_part_that_is_a_link_out_of_its_log_is_not_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    for name, data in rolled_files().items():
        (log / name).parent.mkdir(parents=True, exist_ok=True)
        (log / name).write_bytes(data)
    folder = next(log.iterdir())
    last = next(folder.glob("events_2_*"))
    last.rename(tmp_path / "elsewhere")
    last.symlink_to(tmp_path / "elsewhere")
    code, document, _ = summary([str(folder)], capsys)
    assert code == 3
    coverage = document["coverage"]
    assert isinstance(coverage, dict)
    assert {note["code"] for note in coverage["notes"] if "leads out" in note["message"]} == {"missing_part"}
    assert ids(document) == [APP_43]


@pytest.fixture
def no_rights() -> Iterator[None]:
    """Root may read everything, so the test is somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def for_all(tmp_path: Path) -> Path:
    """The folder of the test, which pytest makes for its user only, open to all."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o055 != 0o055 and folder != Path("/"):
            folder.chmod(0o755)
    return tmp_path


def test_folders_and_files_without_rights_cost_no_other(
    for_all: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    for name in ("a", "closed/log", "listed/log", "z"):
        (for_all / name).parent.mkdir(exist_ok=True)
        (for_all / name).write_bytes(cut_log(20))
    secret = for_all / "secret"
    secret.write_bytes(LOG)
    summary([str(for_all)], capsys)  # all modules are there before the rights go
    for path, mode in ((for_all / "closed", 0o000), (for_all / "listed", 0o444), (secret, 0o000)):
        path.chmod(mode)
    request.getfixturevalue("no_rights")
    code, document, err = summary([str(for_all)], capsys)
    assert code == 3
    assert ids(document) == [APP_35, APP_35]
    bad = [path.removeprefix(f"{for_all}/") for path in places(document)[2:]]
    assert [name.split("/")[0] for name in bad] == ["closed", "listed", "secret"]
    assert "Permission denied" in err
    assert len(err.splitlines()) == 1
    for name in ("closed", "secret"):
        assert exit_code(["summary", str(for_all / name)]) == 3
        assert "Permission denied" in capsys.readouterr().err


def test_a_tar_on_its_way_needs_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:bz2") as archive:
        info = tarfile.TarInfo("./log")
        info.size = len(LOG)
        archive.addfile(info, io.BytesIO(LOG))
    (tmp_path / "x").write_bytes(out.getvalue())
    assert exit_code(["diagnose", str(tmp_path / "x")]) == 0
    assert "logged-job" in capsys.readouterr().out


def test_a_profile_in_an_archive_is_no_application(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x").write_bytes(zipped({"stacks": b"main;run;work 12\nmain 3\n", "log": LOG}))
    assert exit_code(["diagnose", str(tmp_path / "x"), "--json"]) == 3
    out, err = capsys.readouterr()
    assert ids(json.loads(out)) == [APP_35]
    assert "x/stacks: a diagnosis needs an application" in err
