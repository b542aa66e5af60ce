from __future__ import annotations

from typing import Any

import pytest

from emberscope.report.machine import machine_words
from emberscope.report.waterfall import waterfall
from emberscope.tables.run import Run
from emberscope.tables.series import SERIES
from tests.runs import executor, run_of, task, with_rows


def _run(points: list[dict[str, Any]]) -> Run:
    run = run_of(
        tasks=[task(0, 0, 1_000, executor_id="1", executor_cpu_time_ns=10**8)], executors=[executor("1", 1, 0)]
    )
    return with_rows(run, "series", SERIES.from_rows(points))


def _point(name: str, value: float, executor_id: str = "1", host: str = "a") -> dict[str, Any]:
    return {"name": name, "time_ns": 0, "value": value, "executor_id": executor_id, "host": host}


def test_a_full_machine_is_told_with_the_share_of_the_jvms() -> None:
    run = _run(
        [
            _point("cpu_machine_ratio", 0.98),
            _point("cpu_machine_ratio", 1.0),
            _point("cpu_process_ratio", 0.125),
            _point("cpu_process_ratio", 0.9, "driver", "b"),
            _point("cpu_machine_ratio", 1.0, "driver", "b"),
        ]
    )
    assert machine_words(run) == "the machine's CPUs were 99.0 % busy on average, 12.5 % by the recorded JVMs of tasks"
    notes = {part.part: part.note for part in waterfall(run)}
    assert notes["task_wait"].endswith("locks; " + machine_words(run))


@pytest.mark.parametrize("points", [[], [_point("cpu_machine_ratio", 0.6)], [_point("cpu_process_ratio", 0.99)]])
def test_nothing_is_said_of_a_machine_that_had_room_or_was_not_seen(points: list[dict[str, Any]]) -> None:
    assert machine_words(_run(points)) == ""
