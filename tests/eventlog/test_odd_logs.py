"""Logs that went through other hands than Spark's: what is in them is read or told, and nothing is counted wrongly."""

import codecs
import json
from pathlib import Path

import pytest

from emberscope.errors import InputError
from emberscope.eventlog.facts import facts
from emberscope.eventlog.read import read_event_log
from emberscope.eventlog.sniff import looks_like_event_log
from tests.eventlog.logs import plain_text

_SECOND = b"app-19990101000000-0001"


def _facts(tmp_path: Path, text: bytes) -> dict[str, object]:
    path = tmp_path / "log"
    path.write_bytes(text)
    got = facts(read_event_log(str(path)))
    del got["coverage"]
    return got


@pytest.mark.parametrize("beginning", ["SparkListenerLogStart", "SparkListenerTaskEnd", "SparkListenerJobStart"])
def test_a_byte_order_mark_costs_nothing(beginning: str, tmp_path: Path) -> None:
    lines = plain_text().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if beginning.encode() in line[:60])
    text = b"".join(lines[first:])
    assert looks_like_event_log(codecs.BOM_UTF8 + lines[first])
    assert _facts(tmp_path, codecs.BOM_UTF8 + text) == _facts(tmp_path, text)


@pytest.mark.parametrize(
    ("escaped", "name"),
    [
        (rb"cut\ud83d", "cut\ufffd"),
        (rb"\udE00tail", "\ufffdtail"),
        (rb"\ude00\ud83d", "\ufffd\ufffd"),
        (rb"\ud83d\ud83d\ude00\u00e9", "\ufffd\N{GRINNING FACE}\u00e9"),
        (rb"half\ud83d \\ud83d \n", "half\ufffd \\ud83d \n"),
    ],
)
def test_half_a_surrogate_pair_costs_one_letter_and_not_its_line(escaped: bytes, name: str, tmp_path: Path) -> None:
    lines = plain_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b"SparkListenerApplicationStart" in line[:60])
    event = json.loads(lines[at]) | {"App Name": "NAME"}
    lines[at] = json.dumps(event).encode().replace(b"NAME", escaped) + b"\n"
    got = _facts(tmp_path, b"".join(lines))
    assert (got["app_name"], got["malformed_lines"]) == (name, 0)


@pytest.mark.parametrize("whole", [True, False])
def test_a_log_of_two_applications_says_so_and_is_not_complete(whole: bool, tmp_path: Path) -> None:
    text = plain_text()
    app_id = read_id(text)
    other = text.replace(app_id, _SECOND)
    path = tmp_path / "log"
    path.write_bytes(text + (other if whole else other[: other.index(b"SparkListenerJobStart")]))
    coverage = read_event_log(str(path)).coverage
    (said,) = [note.message for note in coverage.notes if note.code == "unresolved"]
    assert app_id.decode() in said
    assert _SECOND.decode() in said
    assert not coverage.complete


def test_a_log_that_is_there_twice_is_of_one_application(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(plain_text() * 2)
    assert {note.code for note in read_event_log(str(path)).coverage.notes} & {"unresolved", "duplicate_part"} == {
        "duplicate_part"
    }


def read_id(text: bytes) -> bytes:
    start = next(line for line in text.splitlines() if b"SparkListenerApplicationStart" in line[:60])
    return str(json.loads(start)["App ID"]).encode()


def test_events_of_another_program_are_no_event_log(tmp_path: Path) -> None:
    path = tmp_path / "clicks"
    path.write_bytes(b'{"Event":"click","x":3}\n{"Event":"scroll"}\n' * 40)
    with pytest.raises(InputError, match=r"its events \(click, scroll\) are not Spark's") as raised:
        read_event_log(str(path))
    assert raised.value.hint


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63) + 1, 2**53 + 1])
def test_numbers_at_the_ends_of_their_range_are_summed_exactly(value: int, tmp_path: Path) -> None:
    lines = []
    count = 0
    for line in plain_text().splitlines():
        event = json.loads(line)
        if metrics := event.get("Task Metrics"):
            metrics["Executor CPU Time"] = value
            count += 1
        lines.append(json.dumps(event, separators=(",", ":")).encode())
    got = _facts(tmp_path, b"\n".join(lines) + b"\n")
    assert count > 1
    assert got["totals"]["executor_cpu_time_ns"] == count * value  # type: ignore[index]


def test_rolled_files_with_numbers_beyond_all_bounds(tmp_path: Path) -> None:
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    lines = plain_text().splitlines(keepends=True)
    (folder / "events_1_app-1").write_bytes(b"".join(lines[:50]))
    (folder / "events_999999999999999_app-1").write_bytes(b"".join(lines[50:]))
    run = read_event_log(str(folder))
    assert run.application.lines == len(lines)
    (message,) = [note.message for note in run.coverage.notes if note.code == "missing_part"]
    assert message == "999,999,999,999,997 rolled files are missing: 2, 3, 4, 5, 6, ...."
