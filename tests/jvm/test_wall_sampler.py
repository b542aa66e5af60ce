"""The wall-clock sampler alone in a JVM: states of threads, whose they are, with and without JDK Flight Recorder."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from emberscope.sources.recording import load_recording
from emberscope.tables.run import Run
from tests.jfr.recordings import paths
from tests.jvm import toolchain

KINDS = ("computes", "sleeps", "parks", "waits", "locks", "reads")
STATES = (
    "STATE_RUNNABLE",
    "STATE_SLEEPING",
    "STATE_PARKED_TIMED",
    "STATE_IN_OBJECT_WAIT_TIMED",
    "STATE_BLOCKED_ON_MONITOR_ENTER",
    "STATE_WAITING_FOR_IO",
)
WITHOUT_FLIGHT_RECORDER = ("--limit-modules", "java.se,jdk.unsupported,jdk.management,jdk.security.auth")
EACH_JVM = [
    pytest.param(home, flags, id=f"{toolchain.major(home)}{'-without-jfr' if flags else ''}")
    for home in toolchain.jdk_homes()
    for flags in ((), WITHOUT_FLIGHT_RECORDER)
]


def _recorded(home: Path, flags: tuple[str, ...], classes: Path, store: Path, *job: str) -> tuple[Run, list[Any]]:
    said = json.loads(toolchain.java(home, *flags, "io.emberscope.WallJob", store, *job, classes=classes))
    return load_recording(str(store), files=[*map(str, sorted(store.rglob("*.jfr")))]), said["problems"]


def _manifests(store: Path) -> list[dict[str, Any]]:
    found = (json.loads(path.read_text()) for path in store.rglob("*.json"))
    return sorted((one for one in found if one["engine"] == "wall-sampler"), key=lambda one: one["sequence"])


@pytest.mark.parametrize(("home", "flags"), EACH_JVM)
def test_states_and_tasks_are_those_of_the_job(
    home: Path, flags: tuple[str, ...], classes: Path, tmp_path: Path
) -> None:
    run, problems = _recorded(home, flags, classes, tmp_path, "1500", "60", "events=wall", "rate.wall=5ms")
    assert [problem["where"] for problem in problems] == (["start"] if flags else [])
    assert run.coverage.notes == ()
    stacks = paths(run.tables["stacks"], run.tables["frames"])
    wall = run.tables["samples"].filter(pc.equal(run.tables["samples"]["event"], "wall")).to_pylist()
    seen: dict[int, Counter[str]] = defaultdict(Counter)
    for row in wall:
        assert row["in_span"] is True, "no other thread is looked at in an executor"
        inside = {kind for kind in KINDS if f"io.emberscope.WallJob.{kind}" in stacks[row["stack"]]}
        assert inside <= {KINDS[row["stage_id"]]}, "never the stack of another task"
        seen[row["stage_id"]][row["state"]] += row["count"]
    for stage, state in enumerate(STATES):
        assert seen[stage].most_common(1)[0][0] == state

    spans = {span["task_id"]: span for span in run.tables["spans"].to_pylist() if span["end_ns"] is not None}
    assert sorted(spans) == list(range(6 * 61)), "every task once, whoever wrote it"
    # A short task may end while its thread is looked at; then that look is nobody's.
    lasted_ns = {task: span["end_ns"] - span["start_ns"] for task, span in spans.items()}
    long = {task: ns for task, ns in lasted_ns.items() if ns > 1_000_000_000}
    assert len(long) >= 6
    recorded_ns = sum(row["value"] for row in wall if row["task_id"] in long)
    assert recorded_ns == pytest.approx(sum(long.values()), rel=0.2), "samples stand for the time of the tasks"

    manifests = _manifests(tmp_path)
    assert [manifest["last"] for manifest in manifests] == [False] * (len(manifests) - 1) + [True]
    assert {tuple(manifest["events"]) for manifest in manifests} == {("wall",)}
    assert {manifest["withheld"] for manifest in manifests} == {0}


def test_more_stacks_than_memory_could_hold_are_held_in_the_budget(classes: Path) -> None:
    flags = ("-Xmx64m", "-XX:+ExitOnOutOfMemoryError")
    said = json.loads(
        toolchain.java(toolchain.jdk_homes()[0], *flags, "io.emberscope.ManyStacks", "30000", classes=classes)
    )
    assert said["written"] > 2 * said["budget"]
    one_stack = 400 * 64
    assert said["most_open"] <= said["budget"] / 4 + one_stack
    assert said["most_closed"] <= said["budget"] / 2
    (problem,) = said["problems"]
    assert "a chunk was lost" in problem["message"]
    assert problem["count"] >= 2
