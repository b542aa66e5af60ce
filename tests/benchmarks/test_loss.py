"""What is counted as lost by a death. The deaths themselves are `benchmarks/loss.py`."""

from __future__ import annotations

from typing import Any

from benchmarks.loss_deaths import death_of
from benchmarks.loss_table import table


def manifest(engine: str, first_ms: int, last_ms: int, **more: Any) -> dict[str, Any]:
    times = {"first_ms": first_ms, "last_ms": last_ms, "arrived_ms": last_ms + 20}
    return {"engine": engine, **times, "last": False, "swept": False, **more}


def test_the_engine_that_lost_the_most_counts() -> None:
    lived = [manifest("jfr", 0, 5_000), manifest("wall-sampler", 0, 5_000)]
    swept = [manifest("jfr", 5_000, 8_900, swept=True), manifest("wall-sampler", 5_000, 6_000, swept=True, last=True)]
    found = death_of(9_000, [*lived, *swept])
    assert found["lost_by_engine_ms"] == {"jfr": 100, "wall-sampler": 3_000}
    assert (found["lost_ms"], found["lost_without_sweep_ms"], found["closed"]) == (3_000, 4_000, False)


def test_an_engine_of_which_nothing_arrived_lost_all() -> None:
    found = death_of(9_000, [manifest("jfr", 1_000, 8_900, swept=True)])
    assert found["lost_by_engine_ms"] == {"jfr": 100, "wall-sampler": 8_000}
    assert found["lost_without_sweep_ms"] == 8_000


def test_what_both_engines_closed_themselves_lost_nothing() -> None:
    ends = [manifest("jfr", 0, 8_990, last=True), manifest("wall-sampler", 0, 8_990, last=True, arrived_ms=9_150)]
    found = death_of(9_000, ends)
    assert (found["lost_ms"], found["closed"], found["exit_ms"]) == (0, True, 150)
    half = death_of(9_000, [ends[0], ends[1] | {"last": False, "last_ms": 5_000}])
    assert (half["lost_ms"], half["closed"], half["exit_ms"]) == (4_000, False, None)


def test_a_death_that_nobody_recorded_is_in_the_table() -> None:
    nobody = {"way": "sigkill", "wrong": [], **death_of(9_000, [])}
    known = {"way": "sigkill", "wrong": ["a"], **death_of(9_000, [manifest("jfr", 0, 7_000)])}
    text = table([nobody, known])
    assert "| executor, SIGKILL | 2 | 0 | 9.0, 9.0, 9.0 (1 not recorded at all) |" in text
    assert "| executor, SIGKILL | jfr | 1 | 2.0, 2.0, 2.0 |" in text
