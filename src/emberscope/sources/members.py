"""The members of a directory that is neither a run nor one log: all that can be read, and all that cannot."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from emberscope.errors import InputError
from emberscope.eventlog.databricks import repeated_folders
from emberscope.eventlog.parts import is_part, leads_out
from emberscope.eventlog.rolled import loose_logs
from emberscope.sources.kind import (
    LOGS,
    MAX_DEPTH,
    MAX_MEMBERS,
    describe,
    is_log_in_parts,
    kind_of,
    read_head,
    unpack_head,
)
from emberscope.store.layout import is_run

_OWN_DOCUMENT: Final = re.compile(rb'\A\{\s*"schema":\s*"emberscope\.')


@dataclass(slots=True)
class Members:
    """What lies in a directory, in the order of names; `problems` are the members that are none of it.

    `singles` are the files and folders that are one input each, with their kind: event logs, and profiles as text.
    """

    singles: list[tuple[str, str]] = field(default_factory=list)
    recordings: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    texts: list[tuple[str, InputError | None]] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)


def members(directory: Path) -> Members:
    """The event logs, recordings and runs in a directory and its folders, to a depth of a few.

    Pipes, sockets and devices are told and not opened.
    Hidden names are left out, and so are names that begin with `_` (marks such as `_SUCCESS`) and our own documents.
    Raises `InputError` where there are so many files that the path must be a mistake.
    """
    found = Members()
    _add(directory, directory, 0, found, {os.path.realpath(directory)})
    _place_texts(found)
    return found


def _place_texts(found: Members) -> None:
    """Beside logs, what a program printed is a log too; files without a line, and scripts, are nothing to tell of."""
    folders = {os.path.dirname(log) for log in found.logs}
    alone = not (found.singles or found.recordings or found.runs or found.logs)
    for path, error in found.texts:
        if os.path.dirname(path) not in folders:
            if error is None and alone:
                found.singles.append((path, "question"))
            else:
                # A program or a page that speaks of Spark is no question where there are data.
                found.problems.append(error or InputError(path, "it looks like plain text, and was left out."))
        elif error is None or _is_plain_text(path):
            found.logs.append(path)
    found.logs.sort()


def _add(directory: Path, root: Path, depth: int, found: Members, seen: set[str]) -> None:
    """One unreadable folder or file costs no other."""
    try:
        children = sorted(directory.iterdir())
        is_log = is_log_in_parts(directory)
        repeated = repeated_folders(str(directory)) if is_log else []
        loose = loose_logs(str(directory)) if is_log else []
    except OSError as error:
        found.problems.append(InputError(str(directory), f"cannot be read: {error.strerror}."))
        return
    if is_log:
        found.singles += [(log, "event_log") for log in loose or [str(directory)]]
    for child in children:
        if child.name.startswith((".", "_")) or child.name in repeated:
            continue
        try:
            if leads_out(str(child), str(root)):
                reason = "it is a link that leads out of the folder, and was not followed."
                found.problems.append(InputError(str(child), reason, hint="Give what it leads to by its own name."))
            elif child.is_dir():
                _add_folder(child, root, depth, found, seen)
            elif child.exists() and not child.is_file():
                reason = "it is a pipe, a socket or a device and no file, and was left out."
                found.problems.append(InputError(str(child), reason, hint="Give it by its own name."))
            elif not (is_log and is_part(child.name)):
                _add_file(child, found, beside_log=is_log)
        except OSError as error:
            found.problems.append(InputError(str(child), f"cannot be read: {error.strerror}."))


def _add_folder(folder: Path, root: Path, depth: int, found: Members, seen: set[str]) -> None:
    real = os.path.realpath(folder)
    if real in seen:  # a link to a folder that is read already, or to one around it
        return
    seen.add(real)
    if is_run(folder):
        found.runs.append(str(folder))
    elif depth < MAX_DEPTH or is_log_in_parts(folder):
        _add(folder, root, depth + 1, found, seen)
    elif any(folder.iterdir()):
        reason = f"it lies more than {MAX_DEPTH} folders deep, and was not looked into."
        found.problems.append(InputError(str(folder), reason, hint="Give it by its own name."))


def _add_file(path: Path, found: Members, *, beside_log: bool) -> None:
    """What lies beside the parts of a log and is no input (prices, states, sums of checks) is no bad one either."""
    try:
        kind = kind_of(str(path))
    except InputError as error:
        if not beside_log and not _is_own_document(path):
            if _is_text(path):
                found.texts.append((str(path), error))
            else:
                found.problems.append(error)
    else:
        if kind == "recording":
            found.recordings.append(str(path))
        elif kind in LOGS:
            found.logs.append(str(path))
        elif kind == "question":
            found.texts.append((str(path), None))
        else:
            found.singles.append((str(path), kind))
    if len(found.singles) + len(found.recordings) + len(found.logs) + len(found.problems) > MAX_MEMBERS:
        raise InputError(str(path.parent), f"more than {MAX_MEMBERS} files lie in it.", hint="Give one of them.")


def _is_text(path: Path) -> bool:
    """Whether a file that is no input may be what a process printed, or a script that started one; or is empty."""
    try:
        head = read_head(path)
    except OSError:
        return False
    return not head or describe(unpack_head(head)) in ("plain text", "a script", "a Spark configuration")


def _is_plain_text(path: str) -> bool:
    head = read_head(Path(path))
    return bool(head) and describe(unpack_head(head)) == "plain text"


def _is_own_document(path: Path) -> bool:
    """Whether a file is a result or manifest of ours, which is no input and no bad one."""
    try:
        return _OWN_DOCUMENT.match(read_head(path)) is not None
    except OSError:
        return False
