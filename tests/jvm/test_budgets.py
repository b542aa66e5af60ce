"""What the recorder may cost: rates fall beyond a budget and rise where there is room, and every chunk says its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from emberscope.jfr.recording import read_recording
from tests.jvm import toolchain

SPANS_ONLY = 7


def _said(classes: Path, *arguments: str) -> Any:
    home = toolchain.jdk_homes()[0]
    return json.loads(toolchain.java(home, "io.emberscope.Budgets", *arguments, classes=classes))["said"]


def test_rates_fall_until_sampling_fits_into_the_budget_and_no_further(classes: Path) -> None:
    # 10 s of CPU a window: 2 % are 200 ms. Sending takes 40, samples 1000: an eighth of them fits beside it.
    assert _said(classes, "cpu", "0.02", *["10000,40,1000"] * 6) == [3] * 6
    # Far beyond: three steps at a time, a sixty-fourth at the most.
    assert _said(classes, "cpu", "0.001", *["10000,2,9000"] * 4) == [3, 6, 6, 6]


def test_rates_rise_again_by_a_step_where_two_windows_had_room(classes: Path) -> None:
    windows = ["10000,40,1000", *["20000,40,600"] * 2, *["80000,40,600"] * 4]
    assert _said(classes, "cpu", "0.02", *windows) == [3, 3, 2, 2, 1, 1, 0]


def test_what_slower_rates_do_not_make_cheaper_does_not_slow_them(classes: Path) -> None:
    assert _said(classes, "cpu", "0.02", *["10000,2000,30"] * 3) == [0, 0, 0]
    # An idle process: its ticking is more than 2 % of what it does, and is no harm.
    assert _said(classes, "cpu", "0.02", *["20,10,5"] * 3) == [0, 0, 0]
    assert _said(classes, "cpu", "1", *["10000,9000,9000"] * 3) == [0, 0, 0]
    # Somebody else's recording has the higher rate, and goes on: after a try, ours is as it was.
    assert _said(classes, "cpu", "0.02", *["10000,40,1000!"] * 22) == [3, *[0] * 20, 3]


def test_rates_halve_with_what_is_left_of_the_bytes_then_spans_alone_then_nothing(classes: Path) -> None:
    said = _said(classes, "bytes", "1000000", "0", *["20000"] * 200)
    assert 900_000 <= sum(said["sent"]) <= 1_000_000
    assert said["steps"] == sorted(said["steps"])
    assert {0, 1, 2, SPANS_ONLY} <= set(said["steps"])
    assert said["held_by"] == "bytes"
    assert [problem["message"] for problem in said["problems"]] == [
        "the bytes that this process may send (spark.emberscope.budget.bytes) are nearly used up, so only task spans "
        "are recorded from here on"
    ]
    assert said["stop"] is None, "what is left holds these small chunks"
    assert "are used up" in _said(classes, "bytes", "10000", "0", "5000", "2000", "3000000")["stop"]


def test_a_chunk_waits_until_the_one_before_is_paid_for_but_not_at_the_end(classes: Path) -> None:
    # 1000 bytes a second, for 10 s ahead: a chunk of 12500 keeps the two after it waiting, and rates fall then.
    said = _said(classes, "bytes", "0", "1000", "12500", "50", "50", "50", "12500!", "12500!")
    assert said["sent"][:4] == [12500, 0, 0, 25]
    assert said["steps"] == [0, 0, 1, 2, 1, 0]
    assert all(said["sent"][4:])
    assert said["held_by"] is None
    assert said["problems"] == []


def test_no_order_of_chunks_sends_more_than_the_budget_and_what_fits_is_sent(classes: Path) -> None:
    assert _said(classes, "law", "8", "20000") == {"over": 0, "refused_what_fits": 0}


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_own_threads_are_found_by_name_and_counted_after_their_end(home: Path, classes: Path) -> None:
    said = json.loads(toolchain.java(home, "io.emberscope.Budgets", "own", classes=classes))["said"]
    assert said["before"] == 0, "neither we nor Flight Recorder run"
    assert abs(said["found"] - said["ours"]) <= 30_000_000, "the kernel shows hundredths of a second"
    assert said["later"] == said["found"]
    assert said["process"] >= said["ours"] + said["others"]


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_each_chunk_is_weighed_by_its_own_period(home: Path, classes: Path, tmp_path: Path) -> None:
    steps = [0, 2, 1, 0, SPANS_ONLY, 0]
    arguments = [tmp_path, *map(str, steps[1:])]
    said = json.loads(toolchain.java(home, "io.emberscope.SlowedRecording", *arguments, classes=classes))
    assert said["problems"] == []
    events = 0
    chunks = sorted(tmp_path.rglob("*.jfr"))
    assert len(chunks) == len(steps)
    for step, path in zip(steps, chunks, strict=True):
        manifest = json.loads(path.with_suffix(".json").read_text())
        recording = read_recording(path.read_bytes(), path.name)
        counts = recording.facts.event_counts
        events += sum(
            counts.get(f"jdk.{name}", 0)
            for name in ("ExecutionSample", "NativeMethodSample", "CPUTimeSample", "ObjectAllocationSample")
        )
        spans = {row["task_id"] for row in recording.spans.to_pylist()}
        assert len(spans) == 1, "the task of each chunk, at whatever rate"
        # The change comes a moment after the chunk has begun.
        from_ns = (manifest["first_ms"] + manifest["last_ms"]) * 500_000
        samples = recording.samples.to_pylist()
        cpu = [row for row in samples if row["event"] == "cpu" and row["time_ns"] > from_ns]
        if step == SPANS_ONLY:
            assert cpu == []
            assert manifest["sample_period_ns"] is None
            assert (manifest["rate_ratio"], manifest["rate_held_by"]) == (0, "cpu")
            continue
        assert cpu
        period_ns = manifest["sample_period_ns"]
        assert period_ns == 5_000_000 << step
        # The sampler of CPU time says where a sample stands for several periods, since a timer came late.
        periods = {row["value"] / period_ns for row in cpu}
        assert min(periods) == 1
        assert periods == {1} or recording.facts.event_counts.get("jdk.CPUTimeSample")
        assert manifest["rate_ratio"] == 1 / (1 << step)
        assert manifest["rate_held_by"] == ("cpu" if step else None)
        assert manifest["own_cpu_ns"] <= manifest["process_cpu_ns"]
    assert said["sampled_ns"] == events * 10_000
