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
from emberscope.sources.members import members
from emberscope.sources.recording import load_recording, load_text_profile
from emberscope.sources.run import load_run
from emberscope.store.layout import INCOMING, is_run, runs_of
from emberscope.tables.run import Run


@dataclass(frozen=True, slots=True)
class Input:
    """One thing to read: where it is and its kind; `of_runs` runs of a store are there and this is the newest.

    `files` are the recordings in a directory that are one input together; empty where `path` itself is all.
    """

    path: str
    kind: str
    of_runs: int = 1
    files: tuple[str, ...] = ()


def load(
    path: str,
    kind: str | None = None,
    *,
    lines: bool = False,
    compilation: bool = False,
    files: tuple[str, ...] = (),
) -> Run:
    """The run at `path`, of whatever kind; with `lines`, frames of recordings carry their source line, and with
    `compilation` they are told apart by how their method was compiled.

    Of a directory of recordings only `files` are read where they are given.

    Raises `InputError` where it cannot be read at all.
    """
    try:
        match kind or kind_of(path):
            case "event_log":
                return read_event_log(path)
            case "recording":
                return load_recording(path, lines=lines, compilation=compilation, files=files)
            case "collapsed" | "perf_script" as text:
                return load_text_profile(path, text, compilation=compilation)
            case "run":
                return load_run(path, lines=lines, compilation=compilation)
            case other:
                raise UsageError(f"inputs of kind {other!r} cannot be read.", hint=f"Known: {', '.join(READABLE)}.")
    except FileNotFoundError:
        raise InputError(path, "there is no such file or directory.") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}.") from error


def find_inputs(path: str, kind: str | None = None) -> tuple[list[Input], list[InputError]]:
    """What there is to read at `path`: itself, or the members of a directory of anything.

    A store stands for its newest run. The recordings of a directory are one input; each event log and run in it is
    one of its own. Members that cannot be read come back as errors, one each; where there is nothing else one error
    is raised.
    """
    if "://" in path:
        raise InputError(path, "this version reads files and directories only.", hint="Fetch it first.")
    place = Path(path)
    if kind is not None or not place.is_dir():
        return [Input(path, kind or kind_of(path))], []
    try:
        return _inputs_in(place)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}.") from error


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


def _inputs_in(place: Path) -> tuple[list[Input], list[InputError]]:
    path = str(place)
    if not is_run(place) and (runs := runs_of(place)):
        return [Input(str(runs[-1]), "run", of_runs=len(runs))], []
    if not is_run(place) and (left := sorted((place / INCOMING).glob("*/*"))):
        # `emberscope run` was killed before its first run was put together, and no recorder wrote anything either.
        return [Input(str(log), "event_log") for log in left], []
    if is_run(place) or is_log_in_parts(place):
        return [Input(path, kind_of(path))], []
    there = members(place)
    found = [Input(single, kind_read) for single, kind_read in there.singles]
    if there.recordings:
        found.append(Input(path, "recording", files=tuple(there.recordings)))
    found += [Input(run, "run") for run in there.runs]
    if not found:
        return [Input(path, kind_of(path))], []  # raises one sentence about all of it
    return found, there.problems
