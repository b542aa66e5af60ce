"""Archives of event logs: all shapes, within bounds, and none of their names leads anywhere."""

from __future__ import annotations

import gzip
import os
import stat
import struct
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from emberscope.sources.load import Input, find_inputs, load, load_input, read_each, whole
from emberscope.sources.unpacked import Limits, is_archive, unpacked
from tests.eventlog.logs import plain_text
from tests.sources.archives import APP_35, APP_43, PACKED, cut_log, rolled_files, tarred, zipped
from tests.sources.stored import DATA

LOG = plain_text()


def read(path: Path) -> tuple[dict[str, int], list[str]]:
    """Lines by the path of each run, and all problems, with the archive's name left out."""
    runs, problems = {}, []
    found, unread = find_inputs(str(path))
    assert unread == []
    for item in found:
        for outcome in read_each(item, load_input, whole):
            if outcome.result is not None:
                runs[outcome.result.path.removeprefix(f"{path}/")] = outcome.result.application.lines
            problems += [str(error).replace(f"{path}", "A") for error in outcome.problems]
    return runs, problems


def put(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "holiday.png"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("form", ["zip", "tar"])
def test_an_archive_is_told_by_content_and_gives_every_application(tmp_path: Path, form: str, codec: str) -> None:
    files = {
        "logs/a": LOG,
        "logs/b.gz": gzip.compress(LOG),
        **{f"logs/{name}": data for name, data in rolled_files().items()},
        "__MACOSX/logs/._a": b"\0\5\x16\7",
        "logs/.DS_Store": b"\0\0\0\1Bud1",
    }
    path = put(tmp_path, PACKED[codec]((zipped if form == "zip" else tarred)(files)))
    runs, problems = read(path)
    assert problems == []
    lines = LOG.count(b"\n")
    rolled = load(str(next((DATA / "eventlog/spark-4.3").iterdir()))).application.lines
    assert runs == {"logs/a": lines, "logs/b.gz": lines, f"logs/eventlog_v2_{APP_43}": rolled}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_methods_of_zip(tmp_path: Path, method: int) -> None:
    path = put(tmp_path, zipped({"log": LOG}, method))
    assert load(str(path)).application.app_id == APP_35


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_forms_of_tar(tmp_path: Path, form: int) -> None:
    path = put(tmp_path, tarred({"deep/" * 12 + "log": LOG}, form))
    assert load(str(path)).application.app_id == APP_35


def test_one_application_over_several_members(tmp_path: Path) -> None:
    """A rolling log without its folder, and a Databricks log whose parts are packed each in its own way."""
    bare = {name.rpartition("/")[2]: data for name, data in rolled_files().items()}
    assert load(str(put(tmp_path, zipped(bare)))).application.app_id == APP_43
    lines = LOG.splitlines(keepends=True)
    parts = [b"".join(lines[start : start + 50]) for start in range(0, len(lines), 50)]
    names = [f"eventlog-2026-11-30--{hour:02d}-00" for hour in range(9, 9 + len(parts) - 1)]
    files = {f"{name}.gz": gzip.compress(part) for name, part in zip(names, parts, strict=False)}
    first = names[0]
    files[f"{first}.zip.gz"] = gzip.compress(zipped({first: parts[0]}))
    del files[f"{first}.gz"]
    files |= {"eventlog": parts[-1], "prices.json": b'{"dbu": 1}'}
    runs, problems = read(put(tmp_path, zipped({f"cluster/{name}": data for name, data in files.items()})))
    assert runs == {"cluster": len(lines)}
    assert problems == []


def test_large_text_is_packed_again_and_whole(tmp_path: Path) -> None:
    many = LOG * 60
    assert len(many) > 16 << 20
    path = put(tmp_path, tarred({"log": many}))
    with unpacked(str(path)) as (folder, name, problems):
        written = Path(folder, "log").stat().st_size
        assert load(f"{folder}/log").application.lines == many.count(b"\n")
    assert (name, problems) == (str(path), [])
    assert written < len(many) / 10
    assert not Path(folder).exists()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize("form", ["zip", "tar"])
@pytest.mark.parametrize("bad", ["../escaped", "/tmp/escaped", "logs/../../escaped", "C:\\escaped", "..\\escaped"])
def test_names_that_lead_out_are_told_and_written_nowhere(tmp_path: Path, form: str, bad: str) -> None:
    path = put(tmp_path, (zipped if form == "zip" else tarred)({bad: LOG, "log": LOG}))
    before = set(os.listdir(tmp_path)) | set(os.listdir(tempfile.gettempdir()))
    runs, problems = read(path)
    assert list(runs) == ["log"]
    assert [problem for problem in problems if "its name leads out of the archive" in problem] == problems
    assert len(problems) == 1
    assert "escaped" in problems[0]
    assert not {name for name in os.listdir(tempfile.gettempdir()) if "escaped" in name} - before
    assert set(os.listdir(tmp_path)) == {"holiday.png"}


def test_links_in_archives_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(LOG)
    members = {
        "out": link("out", str(secret)),
        "up": link("a/up", "../../secret"),
        "hard": link("hard", "../secret", tarfile.LNKTYPE),
        "in": link("in", "log"),
        "pipe": link("pipe", "", tarfile.FIFOTYPE),
    }
    runs, problems = read(put(tmp_path, tarred({**members, "out/log": LOG, "log": LOG})))
    assert sorted(runs) == ["log", "out/log"]
    assert [problem.split(":")[0] for problem in problems] == ["A/out", "A/a/up", "A/hard"]
    assert all("a link that leads out" in problem for problem in problems)
    info = zipfile.ZipInfo("out")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr(info, str(secret))
        archive.writestr("log", LOG)
    runs, problems = read(tmp_path / "z")
    assert list(runs) == ["log"]
    assert problems == ["A/out: it is a link that leads out of the archive, and was left out."]


def encrypted(data: bytes) -> bytes:
    """A zip whose first file says that it is encrypted, in its own header and in the directory."""
    changed = bytearray(data)
    changed[6] |= 1
    directory = data.index(b"PK\x01\x02")
    changed[directory + 8] |= 1
    return bytes(changed)


def test_an_encrypted_member_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    data = encrypted(zipped({"locked.log": LOG, "open": LOG}))
    runs, problems = read(put(tmp_path, data))
    assert list(runs) == ["open"]
    assert problems == ["A/locked.log: it is encrypted."]
    runs, problems = read(put(tmp_path, encrypted(zipped({"locked.log": LOG}))))
    assert (runs, problems) == ({}, ["A/locked.log: it is encrypted."])


def test_a_method_that_nobody_reads_is_named(tmp_path: Path) -> None:
    data = bytearray(zipped({"odd": LOG, "log": LOG}))
    struct.pack_into("<H", data, data.index(b"PK\x01\x02") + 10, 9)
    runs, problems = read(put(tmp_path, bytes(data)))
    assert list(runs) == ["log"]
    assert problems == ["A/odd: it is packed by a method of zip that is not read (9)."]


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_bomb_is_left_within_bounds(tmp_path: Path, form: str) -> None:
    many = LOG * 40
    data = zipped({"a": LOG, "bomb": many}) if form == "zip" else gzip.compress(tarred({"a": LOG, "bomb": many}))
    path = put(tmp_path, data)
    limits = Limits(ratio=1, free_bytes=4 << 20)
    with unpacked(str(path), limits) as (folder, _, problems):
        assert {item.path.removeprefix(folder) for item in find_inputs(folder)[0]} == {"/a", "/bomb"}
        assert load(f"{folder}/a").application.lines == LOG.count(b"\n")
    assert ["unpacks to more than" in str(problem) for problem in problems] == [True]


def test_zeros_are_not_written_at_all(tmp_path: Path) -> None:
    path = put(tmp_path, zipped({"zeros": bytes(64 << 20), "log": LOG}))
    with unpacked(str(path), Limits(ratio=1, free_bytes=8 << 20)) as (folder, _, problems):
        assert os.listdir(folder) == ["log"]
    assert [str(problem).rpartition("holiday.png/")[2].split(":")[0] for problem in problems] == ["zeros"]


def test_archives_within_archives_have_a_depth(tmp_path: Path) -> None:
    data = zipped({"log": LOG, "again": LOG})
    for _ in range(2):
        data = zipped({"inner.zip": data, "x": LOG})
    assert sorted(read(put(tmp_path, data))[0]) == [
        "inner.zip/inner.zip/again", "inner.zip/inner.zip/log", "inner.zip/x", "x",
    ]  # fmt: skip
    runs, problems = read(put(tmp_path, zipped({"outer.zip": data, "y": LOG})))
    assert sorted(runs) == ["outer.zip/inner.zip/x", "outer.zip/x", "y"]
    assert ["was not looked into" in problem for problem in problems] == [True]


def test_too_many_members(tmp_path: Path) -> None:
    path = put(tmp_path, tarred({f"log{number}": cut_log(3) for number in range(20)}))
    with unpacked(str(path), Limits(members=10)) as (folder, _, problems):
        assert len(os.listdir(folder)) == 10
    assert ["holds more than 10 files" in str(problem) for problem in problems] == [True]


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz", "tar.zst"])
def test_a_cut_archive_gives_what_there_is(tmp_path: Path, form: str) -> None:
    files = {"a": LOG, "b": LOG[: len(LOG) // 2], "c": LOG}
    data = zipped(files) if form == "zip" else PACKED[{"gz": "gzip", "zst": "zstd"}.get(form[4:], "")](tarred(files))
    seen = set()
    for share in range(1, 20):
        path = put(tmp_path, data[: len(data) * share // 20])
        if not is_archive(str(path)):
            assert not seen
            continue
        runs, problems = read(path)
        assert problems
        assert set(runs) == {"a", "b", "c"} & set(runs)
        seen |= set(runs)
    assert seen >= ({"a"} if form == "tar.zst" else {"a", "b", "c"})  # zstd gives whole blocks of 128 KiB only


def test_a_corrupt_member_costs_no_other(tmp_path: Path) -> None:
    data = bytearray(zipped({"a": LOG, "b": LOG}))
    data[2000:2040] = bytes(40)
    runs, problems = read(put(tmp_path, bytes(data)))
    assert runs["b"] == LOG.count(b"\n")
    assert [problem.split(":")[0] for problem in problems if "corrupt" in problem] == ["A/a"]


def test_an_archive_of_nothing_that_is_read(tmp_path: Path) -> None:
    runs, problems = read(put(tmp_path, zipped({"readme": b"hello"})))
    assert runs == {}
    assert problems == ["A: nothing in it is something that emberscope can read."]


def test_two_files_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "z"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("log", LOG)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("log", cut_log(3))
    runs, problems = read(path)
    assert runs == {"log": LOG.count(b"\n")}
    assert problems == ["A/log: there is one of this name already, and it was left out."]


def test_the_kind_of_what_is_in_it_can_be_given(tmp_path: Path) -> None:
    path = put(tmp_path, zipped({"log": LOG}))
    assert find_inputs(str(path), "event_log")[0] == [Input(str(path), "archive", inside="event_log")]
    assert [
        outcome.result is not None
        for outcome in read_each(Input(str(path), "archive", inside="event_log"), load_input, whole)
    ] == [
        False,
        True,
    ]
