"""Chunks as the plugin's own writer makes them, from descriptions; one JVM for as many as are wanted."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hypothesis import strategies as st

from tests.jvm import toolchain

STATES = (
    *("RUNNABLE", "WAITING_FOR_IO", "SLEEPING", "IN_OBJECT_WAIT", "IN_OBJECT_WAIT_TIMED", "PARKED", "PARKED_TIMED"),
    "BLOCKED_ON_MONITOR_ENTER",
)
NATIVE_LINE = -2
START_NS = 1_700_000_000_123_456_789


@dataclass(frozen=True)
class Stack:
    """Frames of class, method and line (`NATIVE_LINE`, -1 unknown), leaf first."""

    cut: bool
    frames: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class Sample:
    time: int
    thread: int
    name: str | None
    state: str
    stack: int
    count: int
    span: int
    task: int


@dataclass(frozen=True)
class Task:
    start: int
    thread: int
    name: str | None
    stage_id: int
    stage_attempt: int
    task_id: int
    attempt: int
    partition: int
    sql_execution_id: int
    job_group: str | None
    description: str | None
    end: int | None
    outcome: str | None
    cpu_start: int = -1
    cpu_end: int = -1


@dataclass(frozen=True)
class Described:
    start_time: int
    length: int
    stacks: tuple[Stack, ...] = ()
    samples: tuple[Sample, ...] = ()
    tasks: tuple[Task, ...] = field(default=())

    def lines(self) -> Iterator[str]:
        yield f"begin {START_NS} {self.start_time}"
        for stack in self.stacks:
            frames = [f" {_word(owner)} {_word(method)} {line}" for owner, method, line in stack.frames]
            yield f"stack {stack.cut:d}" + "".join(frames)
        for s in self.samples:
            yield (
                f"sample {self.start_time + s.time} {s.thread} {_word(s.name)} {s.state} {s.stack} {s.count} {s.span} "
                f"{s.task}"
            )
        yield f"keep {self.start_time + self.length}"
        for t in self.tasks:
            end = "" if t.end is None else f" {self.start_time + t.end} {_word(t.outcome)} {t.cpu_end}"
            yield (
                f"task {self.start_time + t.start} {t.thread} {_word(t.name)} {t.stage_id} {t.stage_attempt} "
                f"{t.task_id} {t.attempt} {t.partition} {t.sql_execution_id} {_word(t.job_group)} "
                f"{_word(t.description)} {t.cpu_start}{end}"
            )
        yield f"end {self.start_time + self.length}"


def _word(text: str | None) -> str:
    return "-" if text is None else "." + base64.b64encode(text.encode()).decode()


class Writer:
    """`write` gives a chunk and the bytes that the writer said it holds."""

    def __init__(self, to: IO[str], back: IO[str]) -> None:
        self._to, self._back = to, back

    def write(self, described: Described) -> tuple[bytes, int]:
        self._to.write("".join(line + "\n" for line in described.lines()))
        self._to.flush()
        held, _, chunk = self._back.readline().partition(" ")
        return base64.b64decode(chunk), int(held)


@contextmanager
def writer(classes: Path) -> Iterator[Writer]:
    java = toolchain.jdk_homes()[0] / "bin" / "java"
    command = [java, "-Xmx256m", "-cp", toolchain.class_path(classes), "io.emberscope.WrittenChunks"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Writer(process.stdin, process.stdout)
        process.stdin.close()
        assert process.wait(timeout=60) == 0


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
CLASSES = st.sampled_from(["a.b.C", "a.b.C$$Lambda$14/0x00007f0123456789", "D", "Ü.ß", "[B", "a.\U0001f600"]) | TEXTS
FRAMES = st.tuples(CLASSES, st.sampled_from(["run", "call", "<init>"]) | TEXTS, st.integers(-2, 1 << 20))


@st.composite
def described(draw: st.DrawFn) -> Described:
    """Chunks of some stacks that share their roots, samples of them and tasks, none in order of time."""
    roots = draw(st.lists(st.lists(FRAMES, max_size=5), min_size=1, max_size=4))
    stacks = [
        Stack(draw(st.booleans()), (*draw(st.lists(FRAMES, max_size=3)), *draw(st.sampled_from(roots))))
        for _ in range(draw(st.integers(1, 6)))
    ]
    names = {thread: draw(st.none() | TEXTS) for thread in range(1, 5)}
    times = st.integers(-(10**12), 10**12)
    threads = st.integers(1, 4)
    samples = draw(
        st.lists(
            threads.flatmap(
                lambda thread: st.builds(
                    Sample,
                    time=times,
                    thread=st.just(thread),
                    name=st.just(names[thread]),
                    state=st.sampled_from(STATES),
                    stack=st.integers(0, len(stacks) - 1),
                    count=st.integers(1, 1000),
                    span=st.integers(0, 1 << 40),
                    task=st.integers(-1, 1 << 40),
                )
            ),
            max_size=12,
        )
    )
    numbers = st.integers(0, (1 << 31) - 1)
    tasks = draw(
        st.lists(
            threads.flatmap(
                lambda thread: st.builds(
                    Task,
                    start=times,
                    thread=st.just(thread),
                    name=st.just(names[thread]),
                    stage_id=numbers,
                    stage_attempt=numbers,
                    task_id=st.integers(0, 1 << 62),
                    attempt=numbers,
                    partition=numbers,
                    sql_execution_id=st.integers(-1, 1 << 62),
                    job_group=st.none() | TEXTS,
                    description=st.none() | TEXTS,
                    end=st.none() | times,
                    cpu_start=st.integers(-1, 1 << 50),
                    cpu_end=st.integers(-1, 1 << 50),
                    outcome=st.sampled_from(["success", "failed", "killed"]),
                )
            ),
            max_size=6,
        )
    )
    return Described(
        draw(st.integers(-(1 << 62), 1 << 62)),
        draw(st.integers(0, 10**12)),
        tuple(stacks),
        tuple(samples),
        tuple(tasks),
    )
