"""JVMs that are killed while they record, and what can be read of the chunks in their repository."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from emberscope.errors import InputError
from emberscope.jfr.recording import read_recording
from tests.jfr.every_event import ORACLE, compare, jdk_lines

PROGRAM = ORACLE.with_name("AllEvents.java")
HARMLESS = {"redacted", "truncated_stacks", "limited", "unresolved", "dropped_events"}
"""Notes that are not of loss in reading: deep stacks, events that another of the same chunk counts better, samples that
the JVM's sampler says it lost, and samples whose stack the JVM did not write: the JDK's own reader, with which every
chunk is compared, has none either."""
_STATE = 64
_MOST_SECONDS = 120


@dataclass
class Found:
    """`finished` chunks, the `events` in them, what was `said` of those that are not, and what is wrong."""

    finished: int = 0
    events: int = 0
    said: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def record_and_kill(java: str, scratch: Path, seconds: float) -> list[Path]:
    """The files in the repository of a JVM that was killed so long after its first chunk began, the oldest first."""
    repository = scratch / "repository"
    command = [java, "-Xmx512m", f"-XX:FlightRecorderOptions=repository={repository}"]
    with subprocess.Popen(
        [*command, str(PROGRAM), str(scratch / "never.jfr"), "25", "endless"], stderr=subprocess.DEVNULL
    ) as process:
        try:
            until = time.monotonic() + _MOST_SECONDS
            while not list(repository.rglob("*.jfr")):
                _let_run(process, 0.02)
                if time.monotonic() > until:
                    raise RuntimeError(f"the program that is to be recorded began no chunk in {_MOST_SECONDS} s")
            _let_run(process, seconds)
        finally:
            process.kill()
    return sorted(repository.rglob("*.jfr"), key=lambda file: (file.stat().st_mtime_ns, file.name))


def _let_run(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
    raise RuntimeError(f"the program that is to be recorded ended by itself, with {process.returncode}")


def examine(java: str, files: list[Path], scratch: Path) -> Found:
    """Every finished chunk has to be as the JDK reads it, with nothing lost; of the others at least what the JDK reads.

    A chunk that its JVM did not finish has to give that, or one sentence.
    """
    found = Found()
    whole = scratch / "finished.jfr"
    with whole.open("wb") as target:
        for file in files:
            data = file.read_bytes()
            if len(data) > _STATE and data[_STATE] == 0:
                target.write(data)
                found.finished += 1
                _examine_finished(file, found)
            else:
                _examine_unfinished(java, file, found)
    if found.finished:
        result = compare(java, whole)
        found.problems += result.differences + result.refused_by_jdk
        found.events = result.events
        if result.chunks != found.finished:
            found.problems.append(f"{result.chunks} chunks read of {found.finished}")
    return found


def _examine_finished(file: Path, found: Found) -> None:
    notes = read_recording(file, file.name).facts.coverage.notes
    found.problems += [note.message for note in notes if note.code not in HARMLESS]


def _examine_unfinished(java: str, file: Path, found: Found) -> None:
    theirs: Counter[str] = Counter()
    if file.stat().st_size:
        theirs.update(rest[0].decode() for what, *rest in jdk_lines(java, file) if what == b"E")
    try:
        facts = read_recording(file, file.name).facts
    except InputError as error:
        found.said.append(error.message)
        if theirs or "\n" in error.message:
            found.problems.append(f"{file.name}, of which the JDK reads {theirs.total()} events: {error.message}")
        return
    ours = Counter(facts.event_counts)
    found.said.append(f"{file.stat().st_size:,} bytes: {ours.total():,} events, the JDK reads {theirs.total():,}")
    if missing := theirs - ours:
        found.problems.append(f"{file.name}: the JDK reads more: {dict(missing)}")
    if "chunk_unfinished" not in {note.code for note in facts.coverage.notes}:
        found.problems.append(f"{file.name}: nothing is said of its being unfinished")
