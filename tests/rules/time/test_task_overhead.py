from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.time.task_overhead import RULE
from tests.rules.time.shapes import one_stage
from tests.runs import found


@pytest.mark.parametrize(
    ("of_task", "part", "advice"),
    [
        ({}, "waiting to be started", "what the driver did"),
        ({"executor_deserialize_time_ms": 400}, "unpacking their code", "broadcast"),
        ({"result_serialization_time_ms": 400}, "packing their results", "Write the result from the executors"),
    ],
)
def test_the_largest_part_of_the_overhead_is_named(of_task: dict[str, Any], part: str, advice: str) -> None:
    (finding,) = found(RULE, one_stage(160, 500, overhead_ms=500, of_task=of_task))
    assert part in finding.title
    assert advice in finding.advice[0].text
    assert finding.wasted_wall_ms == 19 * 400  # what is above 100 ms of each task on a slot but the first
    assert finding.wasted_core_ms == 152 * 400


@pytest.mark.parametrize(
    ("count", "run_ms", "overhead_ms", "why"),
    [
        (160, 500, 90, "not more than a scheduler needs"),
        (160, 5_000, 500, "a tenth of the time"),
        (8, 5_000, 5_000, "each slot has only its first task"),
        (16, 500, 500, "too short"),
        (2_000, 100, 200, "tasks are tiny: another rule says so"),
    ],
)
def test_ignores(count: int, run_ms: float, overhead_ms: float, why: str) -> None:
    assert found(RULE, one_stage(count, run_ms, overhead_ms=overhead_ms)) == [], why


def test_metrics_that_contradict_the_clock_make_no_overhead() -> None:
    assert found(RULE, one_stage(160, 500, overhead_ms=500, of_task={"finish_ms": 0})) == []
