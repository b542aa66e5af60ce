"""The plugin's own writer of JFR files: all that goes in comes out, by our reader and by those of the JDKs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from emberscope.jfr.recording import read_recording
from emberscope.tables.frame_names import frame_name
from tests.jfr.every_event import compare
from tests.jfr.jdks import JDKS
from tests.jfr.recordings import paths
from tests.jvm.written_chunks import (
    NATIVE_LINE,
    START_NS,
    STATES,
    Described,
    Sample,
    Stack,
    Task,
    Writer,
    described,
    writer,
)


@pytest.fixture(scope="module")
def own(classes: Path) -> Iterator[Writer]:
    with writer(classes) as one:
        yield one


def _name(owner: str, method: str) -> str:
    """As the reader names what the writer spells as JFR does."""
    plain, slash, address = owner.rpartition("/")
    return frame_name((f"{plain}+{address}" if slash else owner).replace(".", "/"), method)


def _rows(chunk: Described) -> list[tuple[Any, ...]]:
    rows = []
    for sample in chunk.samples:
        stack = chunk.stacks[sample.stack]
        frames = tuple(f"{_name(owner, method)}:{max(line, 0)}" for owner, method, line in reversed(stack.frames))
        cut = stack.cut and bool(frames)
        rows.append(
            (
                START_NS + sample.time,
                "STATE_" + sample.state,
                sample.count,
                sample.span,
                sample.thread,
                sample.name,
                None if sample.task < 0 else sample.task,
                cut,
                ("[truncated]:0", *frames) if cut else frames,
            )
        )
    return rows


@settings(max_examples=100)
@given(described())
def test_prop_all_that_is_written_is_read(own: Writer, chunk: Described) -> None:
    data, held = own.write(chunk)
    recording = read_recording(data, "made", lines=True)
    assert {note.code for note in recording.facts.coverage.notes} <= {"truncated_stacks"}
    stacks = paths(recording.stacks, recording.frames, lines=True)
    read = [
        (
            row["time_ns"],
            row["state"],
            row["count"],
            row["value"],
            row["thread_id"],
            row["thread_name"],
            row["task_id"],
            row["truncated"],
            stacks[row["stack"]],
        )
        for row in recording.samples.to_pylist()
    ]
    assert read == _rows(chunk)
    spans = recording.spans.to_pylist()
    starts = [task for task in chunk.tasks if task.end is None]
    ended = [task for task in chunk.tasks if task.end is not None]
    for row, task in zip(spans, [*starts, *ended], strict=True):
        assert row["start_ns"] == START_NS + task.start
        assert row["end_ns"] == (None if task.end is None else START_NS + task.end)
        assert row["thread_id"] == task.thread
        for name in ("stage_id", "stage_attempt", "task_id", "attempt", "partition", "job_group", "description"):
            assert row[name] == getattr(task, name)
        assert row["sql_execution_id"] == (None if task.sql_execution_id < 0 else task.sql_execution_id)
        assert row["outcome"] == (None if task.end is None else task.outcome)
        assert row["cpu_start_ns"] == (None if task.cpu_start < 0 else task.cpu_start)
        used = task.end is not None and 0 <= task.cpu_start <= task.cpu_end
        assert row["cpu_ns"] == (task.cpu_end - task.cpu_start if used else None)
    assert held + 4096 >= len(data), "the memory that is accounted for is no less than the chunk"


LARGE = Described(
    start_time=5,
    length=30_000_000_000,
    stacks=tuple(
        Stack(
            number % 7 == 0,
            tuple((f"a.Generated{number % 300}$Inner", f"m{n % 50}", n) for n in range(number % 200, 300)),
        )
        for number in range(400)
    ),
    samples=tuple(
        Sample(7_000_000 * n, 1 + n % 9, f"thread {n % 9}", STATES[n % 8], n % 400, 1 + n % 20, 50_000_000, n % 50 - 1)
        for n in range(800)
    ),
    tasks=tuple(
        Task(
            n,
            1 + n % 9,
            f"thread {n % 9}",
            n,
            0,
            n,
            0,
            n,
            n % 3 - 1,
            "group",
            None,
            n + 5 if n % 2 else None,
            "success",
        )
        for n in range(50)
    ),
)
SMALL = Described(0, 0)
NATIVE = Described(
    0,
    10,
    (Stack(False, (("java.net.Net", "poll", NATIVE_LINE), ("a.B$$Lambda/0x1f", "run", -1))),),
    (Sample(1, 1, None, "WAITING_FOR_IO", 0, 1, 2, -1),),
)


@pytest.mark.parametrize("version", sorted(JDKS))
@pytest.mark.parametrize("chunk", [LARGE, SMALL, NATIVE], ids=["large", "empty", "native"])
def test_the_jdk_reads_the_same(own: Writer, tmp_path: Path, chunk: Described, version: int) -> None:
    file = tmp_path / "own.jfr"
    file.write_bytes(own.write(chunk)[0])
    result = compare(JDKS[version], file)
    assert (result.differences, result.refused_by_jdk) == ([], [])
    assert (result.chunks, result.events) == (1, len(chunk.samples) + len(chunk.tasks))


@pytest.mark.parametrize("version", sorted(JDKS))
def test_the_tool_of_the_jdk_prints_it(own: Writer, tmp_path: Path, version: int) -> None:
    file = tmp_path / "own.jfr"
    file.write_bytes(own.write(NATIVE)[0] + own.write(LARGE)[0])
    tool = Path(JDKS[version]).with_name("jfr")

    def said(*arguments: str) -> str:
        return subprocess.run([tool, *arguments, file], check=True, capture_output=True, text=True).stdout

    assert "Version: 2.0" in said("summary")
    text = said("print", "--events", "emberscope.WallSample", "--stack-depth", "5")
    assert text.count("emberscope.WallSample {") == 801
    assert 'state = "STATE_WAITING_FOR_IO"' in text
    assert "java.net.Net.poll()" in text
    assert "stageAttempt = 0" in said("print", "--events", "emberscope.TaskSpan")
    assert '"WallSample"' not in said("metadata")
