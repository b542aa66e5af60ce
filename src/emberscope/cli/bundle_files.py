"""The files of inputs for `emberscope bundle`: all that lie there, those that teach names first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from msgspec import Struct

from emberscope.errors import InputError
from emberscope.report.bundled import Form, form_of
from emberscope.sources.at_hand import at_hand
from emberscope.sources.kind import members_of, read_head
from emberscope.sources.load import find_inputs
from emberscope.sources.unpacked import is_archive, unpacked

_OWN_RESULTS: Final = ("findings.json", "bundle.json")
"""Made anew from what is in the bundle."""


class Found(Struct, frozen=True):
    """A file to take: where it lies, its name below all that was given, and what is done with it."""

    path: Path
    name: str
    form: Form


def files_of(inputs: tuple[str, ...], stack: ExitStack, problems: list[InputError], *, recordings: bool) -> list[Found]:
    """All files at these inputs, there until the stack is closed: event logs first, the others in their order."""
    found: list[Found] = []
    taken: set[str] = set()
    for given in inputs:
        try:
            root, name = _root_of(given, stack, problems)
            label = _label(name, taken)
            for path in [root] if root.is_file() else members_of(root):
                if path.name in _OWN_RESULTS:
                    continue
                below = label if path == root else f"{label}/{path.relative_to(root).as_posix()}"
                found += _file(path, below, problems, recordings=recordings)
        except InputError as error:
            problems.append(error)
    return sorted(found, key=lambda one: one.form.way not in ("events", "document"))


def _root_of(given: str, stack: ExitStack, problems: list[InputError]) -> tuple[Path, str]:
    """Where the files of an input lie, and what it is called: of a store the newest run, of an archive its files."""
    place = stack.enter_context(at_hand(given))
    name = "standard-input" if given == "-" else place.name
    if is_archive(place.path):
        folder, _, unread = stack.enter_context(unpacked(place.path))
        problems += unread
        inside = Path(folder) / "inputs"  # of a bundle: what was given then
        return (inside if inside.is_dir() else Path(folder)), name
    root = Path(place.path)
    if not root.exists():
        raise InputError(given, "there is no such file or directory.")
    if root.is_dir():
        try:
            there, _ = find_inputs(place.path)
        except InputError:
            return root, name  # nothing that we read: a helper may
        if len(there) == 1 and there[0].kind == "run":
            return Path(there[0].path), name
    return root, name


def _label(name: str, taken: set[str]) -> str:
    """The last part of a path or URL, told from others of the same name by a number."""
    base = name.partition("?")[0].rstrip("/").rpartition("/")[2].lstrip("._") or "input"
    label, number = base, 1
    while label in taken:
        number += 1
        label = f"{base}-{number}"
    taken.add(label)
    return label


def _file(path: Path, name: str, problems: list[InputError], *, recordings: bool) -> Iterator[Found]:
    try:
        head, size_bytes = read_head(path), path.stat().st_size
    except OSError as error:
        problems.append(InputError(name, f"cannot be read: {error.strerror or error}."))
        return
    yield Found(path, name, form_of(head, size_bytes, recordings=recordings))
