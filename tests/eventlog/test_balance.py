"""Events that are missing or twice there are told, with their number; a healthy log has no such note."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emberscope.eventlog.read import read_event_log
from emberscope.tables.coverage import Coverage
from tests.eventlog.logs import events, plain_text, rolled_text

_TEXT = plain_text()
_LINES = _TEXT.splitlines(keepends=True)
_TOLD = ("dropped_events", "missing_part", "duplicate_part", "clock_skew")


def _read(path: Path, text: bytes) -> Coverage:
    path.write_bytes(text)
    return read_event_log(str(path)).coverage


def _without(name: str, which: Callable[[int], bool]) -> bytes:
    """The log without those of the events of one name whose position `which` accepts."""
    kept, at = [], 0
    for line in _LINES:
        if json.loads(line)["Event"].endswith(name):
            at += 1
            if which(at - 1):
                continue
        kept.append(line)
    return b"".join(kept)


@pytest.mark.parametrize("text", [_TEXT, rolled_text()], ids=["3.5", "4.3"])
def test_healthy_logs_have_no_such_note(text: bytes, tmp_path: Path) -> None:
    assert [note for note in _read(tmp_path / "log", text).notes if note.code in _TOLD] == []


@pytest.mark.parametrize(
    ("name", "which", "words"),
    [
        ("TaskEnd", lambda at: at == 3, "no end of it"),
        ("TaskStart", lambda at: at in (3, 5), "2 tasks ended, but the log has no start of them"),
        ("JobStart", lambda at: at == 1, "1 job ended, but the log has no start of it"),
        ("JobEnd", lambda at: at == 1, "1 job must have ended, but the log has no end of it"),
        ("StageSubmitted", lambda at: at == 0, "1 stage attempt ended, but the log has no start of it"),
        ("StageCompleted", lambda at: at == 0, "must have ended, but the log has no end"),
        ("SQLExecutionStart", lambda at: at == 0, "1 SQL execution ended, but the log has no start of it"),
    ],
)
def test_one_dropped_event_is_told(name: str, which: Callable[[int], bool], words: str, tmp_path: Path) -> None:
    coverage = _read(tmp_path / "log", _without(name, which))
    assert not coverage.complete
    told = [note for note in coverage.notes if note.code == "dropped_events"]
    assert any(words in note.message for note in told), told


def _of(event: dict[str, Any]) -> list[tuple[str, int]]:
    """The job, stage attempt or SQL execution whose start or end this is."""
    name = event["Event"].rpartition(".")[2].removeprefix("SparkListener")
    if name in ("JobStart", "JobEnd"):
        return [("job", event["Job ID"])]
    if name in ("StageSubmitted", "StageCompleted"):
        return [("stage", event["Stage Info"]["Stage ID"])]
    return [("sql", event["executionId"])] if "executionId" in event else []


_THINGS = sorted({thing for event in events(_TEXT) for thing in _of(event)})


@pytest.mark.parametrize("thing", _THINGS)
def test_all_events_of_one_thing_dropped_are_told(thing: tuple[str, int], tmp_path: Path) -> None:
    kept = [line for line in _LINES if thing not in _of(json.loads(line))]
    told = [note.message for note in _read(tmp_path / "log", b"".join(kept)).notes if note.code == "dropped_events"]
    assert told


_ONE_OF = ("TaskStart", "TaskEnd", "JobStart", "JobEnd", "StageSubmitted", "StageCompleted", "SQLExecutionStart")
_GOOD = {
    event["Stage Info"]["Stage ID"]
    for event in events(_TEXT)
    if event["Event"] == "SparkListenerStageCompleted" and "Failure Reason" not in event["Stage Info"]
}
# Tasks of a failed stage may be killed without a word.
_DROPPABLE = [
    number
    for number, event in enumerate(events(_TEXT))
    if event["Event"].endswith(_ONE_OF) and ("Task Info" not in event or event["Stage ID"] in _GOOD)
]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(gone=st.sets(st.sampled_from(_DROPPABLE), min_size=1))
def test_dropped_events_are_never_silent(gone: set[int], tmp_path: Path) -> None:
    kept = [line for i, line in enumerate(_LINES) if i not in gone]
    assert not _read(tmp_path / "log", b"".join(kept)).complete


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_tasks_without_any_event_are_told_by_their_ids(data: st.DataObject, tmp_path: Path) -> None:
    ids = sorted(e["Task Info"]["Task ID"] for e in events(_TEXT) if e["Event"] == "SparkListenerTaskStart")
    gone = data.draw(st.sets(st.sampled_from(ids[:-1]), min_size=1, max_size=20))
    kept = [line for line in _LINES if json.loads(line).get("Task Info", {}).get("Task ID") not in gone]
    told = [n for n in _read(tmp_path / "log", b"".join(kept)).notes if n.code == "dropped_events"]
    assert told[0].lost["events"] == 2 * len(gone)
    assert str(len(gone)) in told[0].message


def test_a_last_stage_without_tasks_is_told_by_its_number_of_tasks(tmp_path: Path) -> None:
    good = [e["Stage Info"] for e in events(_TEXT) if e["Event"] == "SparkListenerStageCompleted"]
    last = [stage["Stage ID"] for stage in good if "Failure Reason" not in stage][-1]
    first = min(e["Task Info"]["Task ID"] for e in events(_TEXT) if "Task Info" in e and e["Stage ID"] == last)
    kept = [line for line in _LINES if json.loads(line).get("Task Info", {}).get("Task ID", -1) < first]
    told = [note.message for note in _read(tmp_path / "log", b"".join(kept)).notes if note.code == "dropped_events"]
    assert any("more than the log shows to end well" in message for message in told), told


def test_run_time_that_no_task_shows_is_told(tmp_path: Path) -> None:
    """Attempts that failed are counted by nothing else: their ids may be the last, and the stage has its successes."""

    def changed(event: dict[str, Any]) -> dict[str, Any]:
        for accumulable in event.get("Stage Info", {}).get("Accumulables", []):
            if accumulable["Name"] == "internal.metrics.executorRunTime":
                accumulable["Value"] += 61_000
        return event

    text = b"".join(json.dumps(changed(e), separators=(",", ":")).encode() + b"\n" for e in events(_TEXT))
    told = [n.message for n in _read(tmp_path / "log", text).notes if n.code == "dropped_events"]
    assert len(told) == 1
    assert "of task run time more than the tasks" in told[0]


def test_a_log_that_is_there_twice_is_told(tmp_path: Path) -> None:
    notes = _read(tmp_path / "log", _TEXT + _TEXT).notes
    assert [n.code for n in notes if n.code in _TOLD] == ["duplicate_part"]


def test_a_piece_from_the_middle_is_a_limit_and_no_damage(tmp_path: Path) -> None:
    coverage = _read(tmp_path / "log", b"".join(_LINES[60:]))
    told = [n.message for n in coverage.notes if n.code == "limited"]
    assert any("no beginning" in message for message in told)
    assert coverage.complete
