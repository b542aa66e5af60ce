"""The folder of a Databricks cluster log: order, gaps, repetitions, and what else lies there."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.eventlog.parts import parts_of
from emberscope.eventlog.read import read_event_log

NAMES = ("eventlog-2024-01-31--09-00", "eventlog-2024-01-31--10-00.gz", "eventlog-2024-01-31--11-00", "eventlog")


def part(number: int | None, context: int = 7) -> bytes:
    said = (
        b'{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"3.5.0","Timestamp":1,'
        b'"Rollover Number":%d,"SparkContext Id":%d}\n' % (number, context)
        if number is not None
        else b""
    )
    return said + b'{"Event":"SparkListenerUnpersistRDD","RDD ID":1}\n'


def write(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def read(folder: Path) -> tuple[list[str], dict[str, str]]:
    parts, notes = parts_of(str(folder))
    return [Path(item.path).name for item in parts], {note.code: note.message for note in notes}


def test_the_files_follow_each_other_and_others_lie_beside_them(tmp_path: Path) -> None:
    write(tmp_path, {name: part(number) for number, name in enumerate(NAMES)} | {"prices.json": b"{}"})
    assert read(tmp_path) == (list(NAMES), {})
    application = read_event_log(str(tmp_path)).application
    assert (application.vendor, application.lines, application.spark_version) == ("databricks", 8, "3.5.0")
    assert not application.complete


def test_a_gap_is_told(tmp_path: Path) -> None:
    write(tmp_path, {name: part(number) for number, name in enumerate(NAMES) if number != 1})
    assert read(tmp_path)[1] == {"missing_part": "1 rolled file is missing: 1."}
    assert not read_event_log(str(tmp_path)).coverage.complete


def test_a_file_that_lost_its_first_line_fills_a_gap(tmp_path: Path) -> None:
    write(tmp_path, {name: part(number if number != 1 else None) for number, name in enumerate(NAMES)})
    assert read(tmp_path) == (list(NAMES), {})


def test_a_file_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {name: part(number) for number, name in enumerate(NAMES)} | {f"{NAMES[0]}.gz": part(0)})
    assert read(tmp_path) == (
        list(NAMES),
        {"duplicate_part": f"{NAMES[0]}.gz is part 0 again, as {NAMES[0]} is, and was left out."},
    )


def test_a_folder_of_copies_is_told_and_left_out(tmp_path: Path) -> None:
    write(tmp_path, {name: part(number) for number, name in enumerate(NAMES)})
    write(tmp_path / "extra", {NAMES[0]: part(0)})
    write(tmp_path / "other", {NAMES[0]: part(5)})
    assert read(tmp_path) == (
        list(NAMES),
        {"duplicate_part": "The files in extra are repeated there, and were left out."},
    )


def test_two_applications_in_one_folder_are_not_mixed(tmp_path: Path) -> None:
    write(tmp_path, {name: part(number, context=number % 2) for number, name in enumerate(NAMES)})
    with pytest.raises(InputError, match="holds the event logs of 2 applications, mixed"):
        parts_of(str(tmp_path))
