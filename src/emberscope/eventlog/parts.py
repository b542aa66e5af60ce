"""A path to the files of one event log, in the order in which Spark wrote them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from emberscope.errors import InputError
from emberscope.eventlog.codecs import PLAIN, codec_of, foreign, read_head, text_head
from emberscope.eventlog.databricks import (
    in_order,
    is_databricks_name,
    is_databricks_part,
    natural_key,
    repeated_folders,
)
from emberscope.eventlog.rolled import ROLLED, logs_among, loose_files
from emberscope.eventlog.rolled import in_order as rolled_in_order
from emberscope.eventlog.sniff import looks_like_event_log
from emberscope.tables.coverage import Note

_HINT: Final = "Give Spark's event log: a file, or the directory eventlog_v2_... of a rolling log."


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a log and the codec of its content."""

    path: str
    codec: str


def parts_of(path: str) -> tuple[list[Part], list[Note]]:
    """The files of the log at `path` with what is known to be missing or twice there.

    `path` is a file, a directory of rolled files (Spark's eventlog_v2_..., or Databricks' eventlog-DATE and eventlog),
    a directory that holds just one of these, or `events_*_...` for one of several logs whose rolled files lie loose in
    a folder. Links that lead out of a directory are not followed.
    Raises `InputError` where there is no event log.
    """
    if files := loose_files(path):
        return _directory(os.path.dirname(path) or ".", files)
    if not os.path.exists(path):
        raise InputError(path, "does not exist.", hint=_HINT)
    if not os.path.isdir(path):
        head = _head(path)
        if not head:
            raise InputError(path, "is empty: no event was written to it yet.", hint=_HINT)
        if (kind := foreign(head) or foreign(text_head(head))) is not None:
            raise InputError(path, f"is a {kind}, which is not read.", hint="Unpack it, and give what is in it.")
        if not looks_like_event_log(head):
            if codec_of(head) != PLAIN and not text_head(head).strip():
                reason = f"is cut or corrupt: nothing of its {codec_of(head)} data can be unpacked."
                raise InputError(path, reason, hint="Fetch it again from where Spark wrote it.")
            raise InputError(path, "is not a Spark event log.", hint=_HINT)
        return [Part(path, codec_of(head))], []
    return _directory(path)


def _directory(path: str, among: Iterable[str] | None = None) -> tuple[list[Part], list[Note]]:
    """As `parts_of`, of a directory or of some of the names in it."""
    there = os.listdir(path) if among is None else among
    names = sorted((n for n in there if not n.startswith(".")), key=natural_key)
    files = [name for name in names if os.path.isfile(os.path.join(path, name))]
    notes = [
        Note("missing_part", f"{name} is a link that leads out of the folder, and was not followed.", where=path)
        for name in files
        if leads_out(os.path.join(path, name), path)
    ]
    files = [name for name in files if not leads_out(os.path.join(path, name), path)]
    if rolled := logs_among(files):
        if len(rolled) > 1:
            raise _several(path, [f"events_*_{log}" for log in rolled])
        numbered, more = rolled_in_order(path, files)
        heads = _heads(path, numbered, notes)
        parts = [Part(os.path.join(path, name), codec_of(head)) for name, head in heads if head]
        if not parts:
            raise InputError(path, "is a rolling event log without any event yet.", hint=_HINT)
        return parts, notes + more
    heads = [(name, head) for name, head in _heads(path, files, notes) if looks_like_event_log(head)]
    if any(is_databricks_part(name) for name, _ in heads):
        chosen, more = in_order(path, [(name, head) for name, head in heads if is_databricks_name(name)])
        notes += [
            Note("duplicate_part", f"The files in {folder} are repeated there, and were left out.", where=path)
            for folder in repeated_folders(path)
        ]
        return [Part(os.path.join(path, name), codec_of(head)) for name, head in chosen], notes + more
    logs = [name for name, _ in heads]
    logs += [name for name in names if name not in files and _holds_rolled(os.path.join(path, name))]
    if len(logs) == 1:
        parts, more = parts_of(os.path.join(path, logs[0]))
        return parts, notes + more
    if logs:
        raise _several(path, logs)
    raise InputError(path, "holds no Spark event log.", hint=_HINT)


def _several(path: str, logs: list[str]) -> InputError:
    return InputError(path, f"holds {len(logs)} event logs.", hint=f"Give one of them: {', '.join(logs[:3])}.")


def _heads(path: str, names: list[str], notes: list[Note]) -> list[tuple[str, bytes]]:
    """The beginnings of the files that can be read. Raises `InputError` where none can."""
    heads = []
    problems = []
    for name in names:
        try:
            heads.append((name, _head(os.path.join(path, name))))
        except InputError as error:
            problems.append(error)
    if problems and not heads:
        raise problems[0]
    notes += [Note("missing_part", f"It {error.reason}", where=error.path) for error in problems]
    return heads


def is_part(name: str) -> bool:
    """Whether a file in the folder of a log is by its name one of its parts, or one of the marks beside them."""
    return bool(ROLLED.match(name)) or is_databricks_name(name) or name.startswith("appstatus_")


def leads_out(path: str, folder: str) -> bool:
    """Whether a path in a folder is a link to somewhere outside of it."""
    if not os.path.islink(path):
        return False
    around = os.path.realpath(folder)
    return os.path.commonpath([around, os.path.realpath(path)]) != around


def _holds_rolled(path: str) -> bool:
    return os.path.isdir(path) and any(ROLLED.match(name) for name in os.listdir(path))


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return read_head(file)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}.") from error
