"""Any input as a run, whatever its kind; a place that holds several inputs as several."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from emberscope.errors import InputError, StoreError, UsageError
from emberscope.eventlog.read import read_event_log, read_facts
from emberscope.eventlog.rolled import loose_files
from emberscope.sources.cluster_status import load_cluster_status
from emberscope.sources.kind import ARCHIVE, READABLE, TEXTS, kind_of
from emberscope.sources.log_groups import grouped
from emberscope.sources.logs import load_log, load_question, with_log_events
from emberscope.sources.members import members
from emberscope.sources.processes import in_processes, useful_processes
from emberscope.sources.recording import load_recording, load_text_profile
from emberscope.sources.run import load_run
from emberscope.sources.shown import Shown, shown_error, shown_run
from emberscope.sources.unpacked import is_archive, unpacked
from emberscope.store.layout import INCOMING, is_run, runs_of
from emberscope.tables.run import Run

if TYPE_CHECKING:
    from emberscope.logs.signature import Signature

_Result = TypeVar("_Result")

_MANY: Final = 4
_MANY_BYTES: Final = 4 << 20
"""Fewer are read sooner than processes are started."""


@dataclass(frozen=True, slots=True)
class Input:
    """One thing to read: where it is and its kind; `of_runs` runs of a store are there and this is the newest.

    `files` are the recordings in a directory that are one input together; empty where `path` itself is all. `inside`
    is the kind of what is in an archive, None where its content is to tell. `name` is what people know it by, where
    that is not its path, and `shown` what its paths are to be replaced by in results; `live` is the state of a running
    application. One `of_many` is of several logs or several recordings, so that it is joined with nothing.
    """

    path: str
    kind: str
    of_runs: int = 1
    files: tuple[str, ...] = ()
    inside: str | None = None
    name: str = ""
    shown: tuple[Shown, ...] = ()
    live: bool = False
    of_many: bool = False


@dataclass(frozen=True, slots=True)
class Outcome(Generic[_Result]):
    """What reading an input, or one of several in an archive, came to: a result or None, and what could not be read."""

    item: Input
    result: _Result | None
    problems: list[InputError] = field(default_factory=list)


def load(
    path: str,
    kind: str | None = None,
    *,
    lines: bool = False,
    compilation: bool = False,
    files: tuple[str, ...] = (),
    signatures: Sequence[Signature] = (),
) -> Run:
    """The run at `path`, of whatever kind; with `lines`, frames of recordings carry their source line, and with
    `compilation` they are told apart by how their method was compiled.

    Of a directory of recordings or logs only `files` are read where they are given. `signatures` are what to look for
    in logs, and in the errors of an event log: they come back in table `log_events`.

    Raises `InputError` where it cannot be read at all.
    """
    try:
        match kind or kind_of(path):
            case "event_log":
                run = read_event_log(path)
                return with_log_events(run, signatures) if signatures else run
            case "container_log" | "gc_log" | "hs_err":
                return load_log(path, signatures, files=files)
            case "pod_status" | "yarn_report" as status:
                return load_cluster_status(path, status, signatures)
            case "question":
                return load_question(path, signatures)
            case "recording":
                return load_recording(path, lines=lines, compilation=compilation, files=files)
            case "collapsed" | "perf_script" as text:
                return load_text_profile(path, text, compilation=compilation)
            case "archive":
                return _only_run(path)
            case "run":
                return load_run(path, lines=lines, compilation=compilation)
            case other:
                raise UsageError(f"inputs of kind {other!r} cannot be read.", hint=f"Known: {', '.join(READABLE)}.")
    except FileNotFoundError:
        raise InputError(path, "there is no such file or directory.") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}.") from error


def load_input(
    item: Input, *, lines: bool = False, compilation: bool = False, signatures: Sequence[Signature] = ()
) -> Run:
    """As `load`, of something that `find_inputs` found."""
    return load(item.path, item.kind, lines=lines, compilation=compilation, files=item.files, signatures=signatures)


def load_facts(item: Input) -> Run:
    """As `load_input`, of an event log only what its facts need: in memory that hardly grows with the log."""
    if item.kind != "event_log":
        return load_input(item)
    try:
        return read_facts(item.path)
    except OSError as error:
        raise InputError(item.path, f"cannot be read: {error.strerror or error}.") from error


def whole(item: Input, run: Run) -> Run:
    """The run as it is: the `digest` of those who want all of it."""
    return run


def read_each(
    item: Input, reader: Callable[[Input], Run], digest: Callable[[Input, Run], _Result]
) -> Iterator[Outcome[_Result]]:
    """The input, or each of those in an archive, read by `reader` and made a result by `digest`.

    The run that `digest` is given says where it lies by the names that people know; what is in an archive has the
    archive's name before its own. `InputError`s are not raised but in the outcomes, those of single files of a run too.
    """
    if item.kind != ARCHIVE:
        try:
            run = reader(item)
        except InputError as error:
            yield Outcome(item, None, [error])
        else:
            unread = _unread_files(run, item.files)
            yield Outcome(item, digest(item, as_known(item, run)), unread)
        return
    try:
        yield from _read_members(item, reader, digest)
    except InputError as error:
        yield Outcome(item, None, [error])
    except OSError as error:
        yield Outcome(item, None, [InputError(item.path, f"cannot be unpacked: {error.strerror or error}.")])


def read_many(
    items: Sequence[Input], reader: Callable[[Input], Run], digest: Callable[[Input, Run], _Result]
) -> Iterator[list[Outcome[_Result]]]:
    """What `read_each` gives for each of the inputs, in their order; side by side in processes where that is worth it.

    `reader` and `digest` are then called in other processes, if they can be sent there, as functions of modules can.
    Of an input nothing is kept but its result, so that memory does not grow with the inputs where results are small.
    """
    worth_it = len(items) >= _MANY and _sendable(reader) and _sendable(digest)
    processes = useful_processes() if worth_it and sum(map(_bytes_of, items)) >= _MANY_BYTES else 1
    return in_processes(partial(_outcomes, reader, digest), items, _killed, processes)


def of_many(items: Sequence[Input]) -> list[Input]:
    """The inputs, told that they are `of_many` where that is so.

    An archive may hold one of anything: with two other inputs there are enough. Texts do not count: little is kept of
    them, and they go to the application that they name.
    """
    kinds = [item.kind for item in items if item.kind not in TEXTS]
    many = len(kinds) > 2 or kinds.count("event_log") > 1 or kinds.count("recording") > 1
    return [replace(item, of_many=True) for item in items] if many else list(items)


def _outcomes(
    reader: Callable[[Input], Run], digest: Callable[[Input, Run], _Result], item: Input
) -> list[Outcome[_Result]]:
    return list(read_each(item, reader, digest))


def _killed(item: Input) -> list[Outcome[_Result]]:
    reason = "the process that read it was killed, for want of memory perhaps."
    return [Outcome(item, None, [InputError(item.path, reason, hint="Read it alone, or where there is more.")])]


def _sendable(function: Callable[..., object]) -> bool:
    inner = function.func if isinstance(function, partial) else function
    return "<locals>" not in getattr(inner, "__qualname__", "<locals>")


def as_known(item: Input, run: Run) -> Run:
    """The run as people know it."""
    if item.live:
        from emberscope.sources.live import of_interface

        run = of_interface(run)
    for shown in item.shown:
        run = shown_run(run, shown.place, shown.name, shown.words)
    return run


def _unread_files(run: Run, files: Sequence[str]) -> list[InputError]:
    """The recordings or logs of a directory of which nothing could be read."""
    if not files:
        return []
    read = {facts.path for facts in run.recordings}
    if "log_events" in run.tables:
        read = set(files) - {note.where for note in run.coverage.notes if note.code == "missing_part"}
    said = {note.where: note.message for note in run.coverage.notes if note.code == "missing_part"}
    return [InputError(file, said.get(file, "it cannot be read.")) for file in files if file not in read]


def _bytes_of(item: Input) -> int:
    try:
        if loose := loose_files(item.path):
            return sum(os.path.getsize(os.path.join(os.path.dirname(item.path), name)) for name in loose)
        if os.path.isdir(item.path):
            return sum(entry.stat().st_size for entry in os.scandir(item.path) if entry.is_file())
        return os.path.getsize(item.path)
    except OSError:
        return 0


def _read_members(
    item: Input, reader: Callable[[Input], Run], digest: Callable[[Input, Run], _Result]
) -> Iterator[Outcome[_Result]]:
    with unpacked(item.path) as (folder, name, problems):
        try:
            found, unread = find_inputs(folder, item.inside)
        except InputError:
            found, unread = [], []
            if not problems:
                raise InputError(item.path, "nothing in it is something that emberscope can read.") from None
        yield Outcome(item, None, problems + [shown_error(error, folder, name) for error in unread])
        named = [
            replace(
                member,
                name=member.path.replace(folder, name, 1),
                shown=(Shown(folder, name), *item.shown),
                of_many=member.of_many or item.of_many,
            )
            for member in of_many(found)
        ]
        for outcomes in read_many(named, reader, digest):
            for outcome in outcomes:
                problems = [shown_error(error, folder, name) for error in outcome.problems]
                yield replace(outcome, problems=problems)


def _only_run(path: str) -> Run:
    outcomes = list(read_each(Input(path, ARCHIVE), load_input, whole))
    runs = [outcome.result for outcome in outcomes if outcome.result is not None]
    if not runs:
        raise next(error for outcome in outcomes for error in outcome.problems)
    if len(runs) > 1:
        raise InputError(path, f"it holds {len(runs)} inputs.", hint="Give one of them.")
    return runs[0]


def find_inputs(path: str, kind: str | None = None) -> tuple[list[Input], list[InputError]]:
    """What there is to read at `path`: itself, or the members of a directory of anything.

    A store stands for its newest run. The recordings of a directory are one input; each event log and run in it is
    one of its own. Members that cannot be read come back as errors, one each; where there is nothing else one error
    is raised.
    """
    if "://" in path:
        raise InputError(path, "files and directories only are read here.", hint="Fetch it first.")
    place = Path(path)
    if is_archive(path):
        return [Input(path, ARCHIVE, inside=kind)], []
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
    if not is_run(place) and (runs := _runs_in(place)):
        return [Input(str(runs[-1]), "run", of_runs=len(runs))], []
    if not is_run(place) and (left := sorted((place / INCOMING).glob("*/*"))):
        # `emberscope run` was killed before its first run was put together, and no recorder wrote anything either.
        return [Input(str(log), "event_log") for log in left], []
    if is_run(place):
        return [Input(path, kind_of(path))], []
    there = members(place)
    found = [Input(single, kind_read) for single, kind_read in there.singles]
    if there.recordings:
        found.append(Input(path, "recording", files=tuple(there.recordings)))
    found += [Input(run, "run") for run in there.runs]
    found += [Input(common, "container_log", files=files) for common, files in grouped(there.logs)]
    if not found:
        return [Input(path, kind_of(path))], []  # raises one sentence about all of it
    return found, there.problems


def _runs_in(place: Path) -> list[Path]:
    """The runs of a store. Where folders in it are closed to us it is read as any folder is, which tells of them."""
    try:
        return runs_of(place)
    except StoreError:
        return []
