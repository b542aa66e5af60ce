"""Tasks that started and did not end, told from copies of a real log from which lines were taken."""

import json
from pathlib import Path

import pytest

from emberscope.eventlog.facts import facts
from emberscope.eventlog.read import read_event_log
from emberscope.tables.run import Run
from tests.eventlog.logs import events, plain_text

_LINES = plain_text().splitlines(keepends=True)
_EVENTS = list(events(plain_text()))


def name(event: dict[str, object]) -> str:
    return str(event["Event"]).removeprefix("SparkListener")


def read(lines: list[bytes], tmp_path: Path) -> Run:
    path = tmp_path / "log"
    path.write_bytes(b"".join(lines))
    return read_event_log(str(path))


def ends_of_last_stage() -> tuple[int, list[int]]:
    """The last stage that succeeded, and the lines of the ends of its tasks."""
    completed = [e["Stage Info"] for e in _EVENTS if name(e) == "StageCompleted"]
    stage = [info["Stage ID"] for info in completed if "Failure Reason" not in info][-1]
    return stage, [i for i, e in enumerate(_EVENTS) if name(e) == "TaskEnd" and e["Stage ID"] == stage]


def test_a_whole_log_has_none(tmp_path: Path) -> None:
    run = read(_LINES, tmp_path)
    assert run.tables["running_tasks"].num_rows == 0
    assert run.coverage.complete


@pytest.mark.parametrize("spaced", [False, True])
def test_what_ran_when_the_log_ends_is_counted_and_no_loss(spaced: bool, tmp_path: Path) -> None:
    stage, ends = ends_of_last_stage()
    lines = _LINES[: ends[0]]
    if spaced:
        lines = [json.dumps(json.loads(line)).encode() + b"\n" for line in lines]
    run = read(lines, tmp_path)
    started = {e["Task Info"]["Task ID"] for e in _EVENTS[: ends[0]] if name(e) == "TaskStart"}
    ended = {e["Task Info"]["Task ID"] for e in _EVENTS[: ends[0]] if name(e) == "TaskEnd"}
    rows = run.tables["running_tasks"].to_pylist()
    assert rows
    assert {row["task_id"] for row in rows} == started - ended
    assert {row["stage_id"] for row in rows} == {stage}
    assert all(row["at_end"] and row["until_ms"] >= row["launch_ms"] for row in rows)
    assert {row["until_ms"] for row in rows} <= {run.application.last_event_ms, *(row["launch_ms"] for row in rows)}
    assert run.coverage.complete
    assert any("running where the log ends" in note.message for note in run.coverage.notes)
    assert facts(run)["tasks"]["total"] == len(ended)


@pytest.mark.parametrize(
    ("reason", "at_end"),
    [("Stage cancelled because SparkContext was shut down", True), ("Job aborted due to stage failure", False)],
)
def test_what_ran_when_the_application_was_stopped_ran_at_its_end(reason: str, at_end: bool, tmp_path: Path) -> None:
    stage, ends = ends_of_last_stage()
    completed = json.loads(
        next(
            line
            for line, e in zip(_LINES, _EVENTS, strict=True)
            if name(e) == "StageCompleted" and e["Stage Info"]["Stage ID"] == stage
        )
    )
    completed["Stage Info"] |= {"Failure Reason": reason, "Accumulables": []}
    failed = json.dumps(completed, separators=(",", ":")).encode() + b"\n"
    run = read([*_LINES[: ends[0]], failed], tmp_path)
    rows = run.tables["running_tasks"].to_pylist()
    assert rows
    assert {row["at_end"] for row in rows} == {at_end}
    assert run.coverage.complete


def test_an_end_that_is_missing_in_a_succeeded_stage_was_lost(tmp_path: Path) -> None:
    _, ends = ends_of_last_stage()
    run = read([line for i, line in enumerate(_LINES) if i != ends[0]], tmp_path)
    assert run.tables["running_tasks"].num_rows == 0
    (note,) = [note for note in run.coverage.notes if note.code == "dropped_events"]
    assert note.lost == {"events": 1}
    assert note.message.startswith("1 task of a completed stage was started")
    assert not run.coverage.complete


def test_an_end_that_is_malformed_is_not_lost_twice(tmp_path: Path) -> None:
    _, ends = ends_of_last_stage()
    run = read([line[: len(line) // 2] + b"\n" if i == ends[0] else line for i, line in enumerate(_LINES)], tmp_path)
    assert {note.code for note in run.coverage.notes} - {"redacted"} == {"malformed_line"}


def test_a_copy_beside_an_attempt_that_ended_well_ran_until_its_stage_ended(tmp_path: Path) -> None:
    stage, ends = ends_of_last_stage()
    task_id = _EVENTS[ends[0]]["Task Info"]["Task ID"]
    at = next(i for i, e in enumerate(_EVENTS) if name(e) == "TaskStart" and e["Task Info"]["Task ID"] == task_id)
    start = json.loads(_LINES[at])
    start["Task Info"] |= {"Task ID": 10**6, "Speculative": True}
    copy = json.dumps(start, separators=(",", ":")).encode() + b"\n"
    run = read([*_LINES[: at + 1], copy, *_LINES[at + 1 :]], tmp_path)
    (row,) = run.tables["running_tasks"].to_pylist()
    (ended,) = [r["completed_ms"] for r in run.tables["stages"].to_pylist() if r["stage_id"] == stage]
    assert (row["task_id"], row["until_ms"], row["at_end"]) == (10**6, ended, False)
    assert run.coverage.complete


def test_starts_after_their_ends_are_not_running(tmp_path: Path) -> None:
    starts = [line for line, e in zip(_LINES, _EVENTS, strict=True) if name(e) == "TaskStart"]
    others = [line for line, e in zip(_LINES, _EVENTS, strict=True) if name(e) != "TaskStart"]
    run = read([*others, *starts], tmp_path)
    assert run.tables["running_tasks"].num_rows == 0
    assert run.coverage.complete


def test_ids_that_do_not_fit_lose_nothing(tmp_path: Path) -> None:
    _, ends = ends_of_last_stage()
    end = json.loads(_LINES[ends[0]])
    end["Task Info"] |= {"Task ID": 10**6, "Index": 10**6}
    other = json.dumps(end, separators=(",", ":")).encode() + b"\n"
    run = read([*_LINES[: ends[0]], other, *_LINES[ends[0] + 1 :]], tmp_path)
    assert run.tables["running_tasks"].num_rows == 0
    assert run.coverage.complete
