"""Recordings made now by the JDKs of this machine, compared sample by sample with the JDK's own reader."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from emberscope.jfr.events import SAMPLE_EVENTS
from emberscope.jfr.recording import read_recording
from emberscope.tables.frame_names import class_name
from tests.jfr.jdks import JDKS
from tests.jfr.recordings import DATA, by_stack, paths

each_jdk = pytest.mark.parametrize("version", sorted(JDKS))


def java(version: int, program: str, *arguments: str) -> str:
    command = [JDKS[version], "-Xmx256m", str(DATA / program), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8", timeout=120).stdout


def spelled(frame: str) -> str:
    """A frame of the oracle, which writes the slash in a hidden class's name as a dot, as we spell it."""
    _, name, line = re.fullmatch(r"([^:]*):(.*):(-?\d+)", frame).groups()
    owner, _, method = name.rpartition(".")
    owner = re.sub(r"(\+0x[0-9a-f]+)\.(\d+)$", r"\1/\2", owner)
    return f"{class_name(owner)}.{method}:{line}"


@pytest.fixture(scope="module", params=sorted(JDKS))
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    target = tmp_path_factory.mktemp("jfr") / "workload.jfr"
    java(request.param, "Workload.java", str(target), "2")
    return request.param, target


def test_every_sample_is_as_the_jdk_reads_it(recorded: tuple[int, Path]) -> None:
    version, file = recorded
    events = {sample.name: sample.event for sample in SAMPLE_EVENTS}
    expected: Counter[tuple[object, ...]] = Counter()
    rows = java(version, "Oracle.java", str(file)).splitlines()
    if any(row.startswith("jdk.CPUTimeSample\t") for row in rows):  # it counts the same, and better
        rows = [row for row in rows if not row.startswith("jdk.ExecutionSample\t")]
    for row in rows:
        name, time_ns, thread, os_thread, truncated, value, stack = row.split("\t")
        frames = tuple(map(spelled, stack.split("\x01"))) if stack else ()
        frames = ("[truncated]:0", *frames) if truncated == "true" else frames
        weight = 10_000_000 if name == "jdk.ExecutionSample" else int(value) if value else None
        key = (events[name], int(time_ns) // 1000, int(thread), int(os_thread), truncated == "true", weight, frames)
        expected[key] += 1
    recording = read_recording(file.read_bytes(), str(file), lines=True)
    stacks = paths(recording.stacks, recording.frames, lines=True)
    got: Counter[tuple[object, ...]] = Counter()
    for row in recording.samples.to_pylist():
        place = (row["event"], row["time_ns"] // 1000, row["thread_id"], row["os_thread_id"], row["truncated"])
        got[(*place, row["value"], stacks[row["stack"]])] += row["count"]
    assert got == expected
    kinds = {"cpu", "alloc"}
    assert kinds <= {event for event, *_ in got}


def test_spans_and_hot_methods(recorded: tuple[int, Path]) -> None:
    version, file = recorded
    recording = read_recording(file.read_bytes(), str(file))
    spans = [row for row in recording.spans.to_pylist() if row["end_ns"] is not None]
    assert sorted(row["task_id"] for row in spans) == [1000, 1001, 2000, 2001]
    assert recording.facts.leaf_top[0][0] == "Workload.burn"
    if version >= 25:
        assert recording.facts.event_counts["jdk.CPUTimeSample"] > 0


@each_jdk
def test_the_chunk_of_a_jvm_that_was_halted(version: int, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    target = tmp_path / "never.jfr"
    command = [JDKS[version], f"-XX:FlightRecorderOptions=repository={repository}", str(DATA / "Workload.java")]
    subprocess.run([*command, str(target), "2", "halt"], check=True, capture_output=True, timeout=120)
    (chunk,) = [file for file in repository.rglob("*.jfr") if file.stat().st_size]
    data = chunk.read_bytes()
    recording = read_recording(data, str(chunk))
    assert "chunk_unfinished" in {note.code for note in recording.facts.coverage.notes}
    assert recording.facts.event_counts["emberscope.TaskSpan"] == 4
    assert sum(count for (event, stack), count in by_stack(recording).items() if event == "cpu" and stack) > 0
