"""The members of a directory that is neither a run nor one log: all that can be read, and all that cannot."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from emberscope.errors import InputError
from emberscope.sources.kind import MAX_DEPTH, MAX_MEMBERS, is_log_in_parts, kind_of, read_head
from emberscope.store.layout import is_run

_OWN_DOCUMENT: Final = re.compile(rb'\A\{\s*"schema":\s*"emberscope\.')


@dataclass(slots=True)
class Members:
    """What lies in a directory, in the order of names; `problems` are the members that are none of it.

    `singles` are the files and folders that are one input each, with their kind: event logs, and profiles as text.
    """

    singles: list[tuple[str, str]] = field(default_factory=list)
    recordings: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)


def members(directory: Path) -> Members:
    """The event logs, recordings and runs in a directory and its folders, to a depth of a few.

    Hidden names are left out, and so are names that begin with `_` (marks such as `_SUCCESS`) and our own documents.
    Raises `InputError` where there are so many files that the path must be a mistake.
    """
    found = Members()
    _add(directory, 0, found, {os.path.realpath(directory)})
    return found


def _add(directory: Path, depth: int, found: Members, seen: set[str]) -> None:
    try:
        children = sorted(directory.iterdir())
    except OSError as error:
        found.problems.append(InputError(str(directory), f"cannot be read: {error.strerror}."))
        return
    for child in children:
        if child.name.startswith((".", "_")):
            continue
        if not child.is_dir():
            _add_file(child, found)
            continue
        real = os.path.realpath(child)
        if real in seen:  # a link to a folder that is read already, or to one around it
            continue
        seen.add(real)
        if is_run(child):
            found.runs.append(str(child))
        elif is_log_in_parts(child):
            found.singles.append((str(child), "event_log"))
        elif depth < MAX_DEPTH:
            _add(child, depth + 1, found, seen)
        elif any(child.iterdir()):
            reason = f"it lies more than {MAX_DEPTH} folders deep, and was not looked into."
            found.problems.append(InputError(str(child), reason, hint="Give it by its own name."))


def _add_file(path: Path, found: Members) -> None:
    try:
        kind = kind_of(str(path))
    except InputError as error:
        if not _is_own_document(path):
            found.problems.append(error)
    else:
        if kind == "recording":
            found.recordings.append(str(path))
        else:
            found.singles.append((str(path), kind))
    if len(found.singles) + len(found.recordings) + len(found.problems) > MAX_MEMBERS:
        raise InputError(str(path.parent), f"more than {MAX_MEMBERS} files lie in it.", hint="Give one of them.")


def _is_own_document(path: Path) -> bool:
    """Whether a file is a result or manifest of ours, which is no input and no bad one."""
    try:
        return _OWN_DOCUMENT.match(read_head(path)) is not None
    except OSError:
        return False
