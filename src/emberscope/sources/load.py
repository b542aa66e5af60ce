"""Any input as a run, whatever its kind; a place that holds several inputs as several."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from emberscope.errors import InputError, UsageError
from emberscope.eventlog.read import read_event_log
from emberscope.sources.kind import READABLE, is_log_in_parts, kind_of
from emberscope.sources.recording import load_recording, load_text_profile
from emberscope.sources.run import load_run
from emberscope.store.layout import is_run, runs_of
from emberscope.tables.run import Run


@dataclass(frozen=True, slots=True)
class Input:
    """One thing to read: where it is and its kind; `of_runs` runs of a store are there and this is the newest."""

    path: str
    kind: str
    of_runs: int = 1


def load(path: str, kind: str | None = None, *, lines: bool = False) -> Run:
    """The run at `path`, of whatever kind; with `lines`, frames of recordings carry their source line.

    Raises `InputError` where it cannot be read at all.
    """
    try:
        match kind or kind_of(path):
            case "event_log":
                return read_event_log(path)
            case "recording":
                return load_recording(path, lines=lines)
            case "collapsed" | "perf_script" as text:
                return load_text_profile(path, text)
            case "run":
                return load_run(path, lines=lines)
            case other:
                raise UsageError(f"inputs of kind {other!r} cannot be read.", hint=f"Known: {', '.join(READABLE)}.")
    except FileNotFoundError:
        raise InputError(path, "there is no such file or directory.") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}.") from error


def find_inputs(path: str, kind: str | None = None) -> tuple[list[Input], list[InputError]]:
    """What there is to read at `path`: itself, or the members of a directory of several event logs.

    A store stands for its newest run. Members that cannot be read come back as errors, one each; where there is
    nothing else the error is raised.
    """
    if "://" in path:
        raise InputError(path, "this version reads files and directories only.", hint="Fetch it first.")
    place = Path(path)
    if kind is not None or not place.is_dir():
        return [Input(path, kind or kind_of(path))], []
    if not is_run(place) and (runs := runs_of(place)):
        return [Input(str(runs[-1]), "run", of_runs=len(runs))], []
    try:
        return [Input(path, kind_of(path))], []
    except InputError as error:
        found, problems = _members(place)
        if not found:
            raise error from None
        return found, problems


@contextmanager
def standard_input(path: str) -> Iterator[str]:
    """`path` itself, or for `-` a temporary file with all of standard input, there for the length of the block."""
    if path != "-":
        yield path
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("'-' reads standard input, but nothing is piped in.")
    handle, name = tempfile.mkstemp(prefix="emberscope-stdin-")
    try:
        with os.fdopen(handle, "wb") as file:
            while block := sys.stdin.buffer.read(1 << 20):
                file.write(block)
        yield name
    finally:
        os.unlink(name)


def _members(directory: Path) -> tuple[list[Input], list[InputError]]:
    """The event logs and recordings in a directory, one level deep, and the members that are neither."""
    found: list[Input] = []
    problems: list[InputError] = []
    for child in sorted(directory.iterdir()):
        if child.name.startswith((".", "_")) or (child.is_dir() and not is_log_in_parts(child)):
            continue
        try:
            found.append(Input(str(child), kind_of(str(child))))
        except InputError as error:
            problems.append(error)
    return found, problems
