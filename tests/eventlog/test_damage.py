"""A prefix or damaged copy of a log reads, or is refused with a reason: nothing crashes, no whole line is lost."""

import io
import json
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, cast

import pytest
import zstandard
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.eventlog import rows
from emberscope.eventlog.codecs import codec_of, decompress
from emberscope.eventlog.facts import facts
from emberscope.eventlog.lines import LINE_BYTES
from emberscope.eventlog.read import read_event_log, read_into
from tests.eventlog.logs import DATA, PACKED, ROLLED, plain_text

# A short log with an event of each kind.
_TEXT = b"".join(
    {line[10 : line.index(b'"', 10)]: line for line in reversed(plain_text().splitlines(keepends=True))}.values()
)
_ZSTD = next(ROLLED.glob("events_2_*")).read_bytes()
_often = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_often
@given(size=st.integers(1, len(_TEXT)))
def test_every_whole_line_of_a_prefix_is_counted(size: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(_TEXT[:size])
    whole = _TEXT[:size].count(b"\n")
    try:
        got = facts(read_event_log(str(path)))
    except InputError:
        assert whole == 0
        return
    assert sum(got["event_counts"].values()) in (whole, whole + 1)  # a last line may lack its line end only
    assert got["lines"] == len(_TEXT[:size].splitlines())
    damaged = {note["code"] for note in got["coverage"]["notes"]} & {"cut", "malformed_line"}
    assert bool(damaged) == (sum(got["event_counts"].values()) != got["lines"])


@_often
@given(changes=st.lists(st.tuples(st.integers(0, len(_TEXT) - 1), st.integers(0, 255)), min_size=1, max_size=20))
def test_changed_bytes_never_crash(changes: list[tuple[int, int]], tmp_path: Path) -> None:
    damaged = bytearray(_TEXT)
    for position, byte in changes:
        damaged[position] = byte
    path = tmp_path / "log"
    path.write_bytes(damaged)
    try:
        got = facts(read_event_log(str(path)))
    except InputError:
        return
    json.dumps(got, allow_nan=False)
    assert got["lines"] == len(bytes(damaged).rstrip(b"\n").split(b"\n"))


@_often
@given(size=st.integers(1, len(_ZSTD) - 1))
def test_a_cut_zstd_file_gives_what_it_has(size: int) -> None:
    whole = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(_ZSTD), read_across_frames=True).read()
    damage: list[str] = []
    got = b"".join(decompress(io.BytesIO(_ZSTD[:size]), "zstd", damage))
    assert whole.startswith(got)
    frame_ends = _ends_of_frames(_ZSTD)
    assert bool(damage) == (size not in frame_ends)
    assert got.count(b"\n") >= sum(end <= size for end in frame_ends)


def _ends_of_frames(data: bytes) -> set[int]:
    ends = set()
    rest = data
    while rest:
        frame = zstandard.ZstdDecompressor().decompressobj()
        frame.decompress(rest)
        rest = frame.unused_data
        ends.add(len(data) - len(rest))
    return ends


@_often
@given(changes=st.lists(st.tuples(st.integers(0, len(_ZSTD) - 1), st.integers(0, 255)), min_size=1, max_size=9))
@example(changes=[(7, 128)])  # the size of a block: it takes the frames that follow for its own data
def test_a_corrupt_frame_costs_no_other(changes: list[tuple[int, int]], tmp_path: Path) -> None:
    damaged = bytearray(_ZSTD)
    for position, byte in changes:
        damaged[position] = byte
    (tmp_path / "log").write_bytes(damaged)
    ends = sorted(_ends_of_frames(_ZSTD))
    hit = {sum(end <= position for end in ends) for position, byte in changes if _ZSTD[position] != byte}
    try:
        run = read_event_log(str(tmp_path / "log"))
    except InputError:
        assert 0 in hit  # the beginning is what tells an event log
        return
    # A frame that was hit may give anything, more lines than it had too; those of all others are there.
    begins = [0, *ends]
    kept = [_ZSTD[begin:end] for number, (begin, end) in enumerate(pairwise(begins)) if number not in hit]
    lines = sum(zstandard.ZstdDecompressor().decompressobj().decompress(frame).count(b"\n") for frame in kept)
    assert run.application.lines >= lines
    assert hit or run.coverage.complete


@_often
@given(
    codec=st.sampled_from(["lz4", "snappy", "lzf"]),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=5),
)
def test_a_corrupt_block_of_sparks_older_codecs_costs_no_other(codec: str, changes: list[tuple[float, int]]) -> None:
    data = (DATA / "codecs" / codec).read_bytes()
    whole = b"".join(decompress(io.BytesIO(data), codec, []))
    damaged = bytearray(data)
    for part, byte in changes:
        damaged[int(part * len(data))] = byte
    damage: list[str] = []
    pieces = list(decompress(io.BytesIO(bytes(damaged)), codec, damage))
    text = b"".join(pieces)
    assert damage or len(text) == len(whole)
    # The first damage is behind all that comes before it; a block holds 32 KiB of text.
    first = min(
        (
            int(part * len(data))
            for part, byte in changes
            if damaged[int(part * len(data))] != data[int(part * len(data))]
        ),
        default=len(data),
    )
    before = b"".join(decompress(io.BytesIO(data[:first]), codec, []))
    assert text.startswith(before)


@_often
@given(codec=st.sampled_from(["lz4", "snappy", "lzf"]), part=st.floats(0, 1, exclude_max=True))
def test_cut_files_of_sparks_older_codecs_give_a_prefix(codec: str, part: float) -> None:
    data = (DATA / "codecs" / codec).read_bytes()
    whole = b"".join(decompress(io.BytesIO(data), codec_of(data), []))
    cut = data[: int(len(data) * part)]
    assert whole.startswith(b"".join(decompress(io.BytesIO(cut), codec, [])))


def test_a_line_that_is_too_long_is_left_out_and_named(tmp_path: Path) -> None:
    lines = plain_text().splitlines(keepends=True)
    plan = b'{"Event":"SparkListenerOther","plan":"' + b"x" * LINE_BYTES + b'"}\n'
    path = tmp_path / "log"
    path.write_bytes(b"".join([*lines[:40], plan, *lines[40:]]))
    run = read_event_log(str(path))
    whole = read_event_log(str(_plain(tmp_path, plain_text())))
    assert {name: table.to_pydict() for name, table in run.tables.items()} == {
        name: table.to_pydict() for name, table in whole.tables.items()
    }
    assert run.application.lines == whole.application.lines + 1
    (note,) = [note for note in run.coverage.notes if note.lost]
    assert (note.code, note.lost) == ("limited", {"lines": 1, "bytes": len(plan)})
    assert "Line 41 is" in note.message
    assert not run.coverage.complete


def _plain(tmp_path: Path, text: bytes) -> Path:
    path = tmp_path / "whole"
    path.write_bytes(text)
    return path


def test_an_execution_is_there_though_its_plan_is_too_long(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = b"y" * LINE_BYTES
    log.write_bytes(plain_text().replace(b'"physicalPlanDescription":"', b'"physicalPlanDescription":"' + text, 1))
    run = read_event_log(str(log))
    whole = read_event_log(str(PACKED))
    executions, expected = (each.tables["sql_executions"].to_pylist() for each in (run, whole))
    assert executions[0]["description"] == expected[0]["description"]
    assert executions[0]["started_ms"] is None
    assert executions[1:] == expected[1:]
    assert [note.code for note in run.coverage.notes if note.code != "redacted"] == ["limited"]


_DEEP = 10_000


@pytest.mark.parametrize(
    "kind", ["SQLExecutionStart", "SQLAdaptiveExecutionUpdate", "JobStart", "StageCompleted", "TaskEnd", "scope"]
)
def test_events_that_are_nested_deeply_are_read(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = plain_text()
    if kind == "scope":
        deep = json.dumps('{"name":"a","parent":' * _DEEP + '{"name":"b"}' + "}" * _DEEP).encode()
        at = text.index(b'"Scope":')
        text = text[:at] + b'"Scope":' + deep + b',"x":' + text[at + 8 :]
    else:
        at = text.index(b"{", text.index(kind.encode() + b'"') - 100)
        deep = b'{"nodeName":"A","children":[' * _DEEP + b"]}" * _DEEP
        plan = b',"sparkPlanInfo":' if kind.startswith("SQL") else b',"unknown":'
        end = text.index(b"\n", at)
        text = text[: end - 1] + plan + deep + text[end - 1 :]
    log.write_bytes(text)
    run, whole = read_event_log(str(log)), read_event_log(str(PACKED))
    assert facts(run) | {"coverage": None} == facts(whole) | {"coverage": None}
    assert {note.code for note in run.coverage.notes} <= {"redacted", "limited"}


def test_a_full_disk_is_no_fault_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "AT_HAND", 1)
    with ExitStack() as stack, pytest.raises(OSError, match="No space left"):
        read_into(
            str(PACKED),
            lambda name, part: None,
            lambda: cast(BinaryIO, stack.enter_context(open("/dev/full", "r+b", buffering=0))),
        )
