"""Times that cannot be are told, with their size."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emberscope.eventlog.read import read_event_log
from tests.eventlog.logs import events, plain_text

_TEXT = plain_text()
Event = dict[str, Any]


def _later(event: Event, after: int, ms: int) -> None:
    for holder in (event, event.get("Stage Info", {}), event.get("Task Info", {})):
        for key in ("Timestamp", "time", "Submission Time", "Completion Time", "Launch Time", "Finish Time"):
            if holder.get(key, 0) > after:
                holder[key] += ms


def _told(path: Path, change: Callable[[int, Event], None]) -> list[str]:
    lines = []
    for number, event in enumerate(events(_TEXT), 1):
        change(number, event)
        lines.append(json.dumps(event, separators=(",", ":")))
    path.write_text("\n".join(lines) + "\n")
    run = read_event_log(str(path))
    assert run.coverage.complete
    return [note.message for note in run.coverage.notes if note.code == "clock_skew"]


def test_a_clock_that_went_back_is_told_by_how_much(tmp_path: Path) -> None:
    middle = len(_TEXT.splitlines()) // 2
    told = _told(tmp_path / "log", lambda number, event: _later(event, 0, -3_600_000 if number > middle else 0))
    assert any(
        message.startswith("The driver's clock went back by 1 h 00 min") or "went back by 59 min" in message
        for message in told
    )


@pytest.mark.parametrize("ms", [1000, 86_400_000])
def test_tasks_that_end_before_they_start(ms: int, tmp_path: Path) -> None:
    def change(number: int, event: Event) -> None:
        if event["Event"] == "SparkListenerTaskEnd" and event["Task Info"]["Task ID"] == 2:
            event["Task Info"]["Finish Time"] = event["Task Info"]["Launch Time"] - ms

    assert any("before they start" in message for message in _told(tmp_path / "log", change))


def test_tasks_that_are_launched_before_their_stage(tmp_path: Path) -> None:
    def change(number: int, event: Event) -> None:
        if event["Event"] == "SparkListenerTaskEnd" and event["Task Info"]["Task ID"] == 2:
            event["Task Info"]["Launch Time"] -= 20_000

    assert any("before their stage is submitted" in message for message in _told(tmp_path / "log", change))


def test_tasks_that_ran_longer_than_they_were_there(tmp_path: Path) -> None:
    def change(number: int, event: Event) -> None:
        if event["Event"] == "SparkListenerTaskEnd" and event["Task Info"]["Task ID"] == 2:
            event["Task Metrics"]["Executor Run Time"] += 3_600_000

    assert any("more than they were there" in message for message in _told(tmp_path / "log", change))


def test_clocks_that_agree_are_not_told(tmp_path: Path) -> None:
    assert _told(tmp_path / "log", lambda number, event: None) == []


@pytest.mark.parametrize("profile", [0, 1])
@pytest.mark.parametrize("cores", [1, 2])
def test_run_times_are_those_of_all_cores_of_a_task(cores: int, profile: int, tmp_path: Path) -> None:
    """Spark 4.1 and later multiply them, by the cores that the stage's resource profile gives to a task."""

    def change(number: int, event: Event) -> None:
        if event["Event"] == "SparkListenerResourceProfileAdded":
            event["Resource Profile Id"] = profile
            event["Task Resource Requests"]["cpus"]["Amount"] = cores
        if event["Event"] == "SparkListenerStageSubmitted":
            event["Stage Info"]["Resource Profile Id"] = profile
        if event["Event"] == "SparkListenerTaskEnd":
            info = event["Task Info"]
            info["Finish Time"] += 500
            event["Task Metrics"]["Executor Run Time"] = 2 * (info["Finish Time"] - info["Launch Time"])

    assert bool(_told(tmp_path / "log", change)) == (cores == 1)
