"""A path to the files of one event log, in the order in which Spark wrote them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from emberscope.errors import InputError
from emberscope.eventlog.codecs import PLAIN, codec_of, foreign, text_head
from emberscope.eventlog.sniff import looks_like_event_log
from emberscope.tables.coverage import Note

HEAD_BYTES: Final = 1 << 16

_ROLLED: Final = re.compile(r"events_(\d+)_(.*)")
_HINT: Final = "Give Spark's event log: a file, or the directory eventlog_v2_... of a rolling log."


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a log and the codec of its content."""

    path: str
    codec: str


def parts_of(path: str) -> tuple[list[Part], list[Note]]:
    """The files of the log at `path` with what is known to be missing or twice there.

    `path` is a file, a directory of rolled files (Spark's eventlog_v2_..., or Databricks' eventlog-DATE and eventlog),
    or a directory that holds just one of these. Raises `InputError` where there is no event log.
    """
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


def _directory(path: str) -> tuple[list[Part], list[Note]]:
    names = sorted((n for n in os.listdir(path) if not n.startswith(".")), key=natural_key)
    files = [name for name in names if os.path.isfile(os.path.join(path, name))]
    if any(_ROLLED.match(name) for name in files):
        chosen, notes = _rolled(path, files)
        parts = [Part(p, codec_of(head)) for p in chosen if (head := _head(p))]
        if not parts:
            raise InputError(path, "is a rolling event log without any event yet.", hint=_HINT)
        return parts, notes
    logs = [name for name in files if looks_like_event_log(_head(os.path.join(path, name)))]
    if logs and all(name.startswith("eventlog") for name in logs):
        # Databricks names rolled files by date and lets the current one be bare.
        logs.sort(key=lambda name: (name == "eventlog", natural_key(name)))
        paths = [os.path.join(path, name) for name in logs]
        return [Part(p, codec_of(_head(p))) for p in paths], []
    logs += [name for name in names if name not in files and _holds_rolled(os.path.join(path, name))]
    if len(logs) == 1:
        return parts_of(os.path.join(path, logs[0]))
    if logs:
        some = ", ".join(logs[:3])
        raise InputError(path, f"holds {len(logs)} event logs.", hint=f"Give one of them: {some}.")
    raise InputError(path, "holds no Spark event log.", hint=_HINT)


def _rolled(path: str, files: list[str]) -> tuple[list[str], list[Note]]:
    """Spark's rolled files in order. A compacted file stands for itself and all files before it."""
    notes = []
    by_index: dict[int, str] = {}
    start = 1
    for name in files:
        found = _ROLLED.match(name)
        if found is None:
            continue
        index = int(found[1])
        if ".compact" in found[2] and index >= start:
            start = index
            by_index[index] = name
        elif index not in by_index:
            by_index[index] = name
        elif ".compact" not in by_index[index]:
            notes.append(Note("duplicate_part", f"{name} repeats part {index} and was left out.", where=path))
    indices = sorted(index for index in by_index if index >= start)
    if missing := sorted(set(range(start, max(indices, default=start))) - set(indices)):
        some = ", ".join(str(index) for index in missing[:5])
        notes.append(Note("missing_part", f"{len(missing)} rolled files are missing: {some}.", where=path))
    return [os.path.join(path, by_index[index]) for index in indices], notes


def _holds_rolled(path: str) -> bool:
    return os.path.isdir(path) and any(_ROLLED.match(name) for name in os.listdir(path))


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}.") from error


def natural_key(name: str) -> tuple[tuple[int, int | str], ...]:
    """Sorts numbers within names as numbers: 10 comes after 9."""
    return tuple((0, int(run)) if run.isdigit() else (1, run) for run in re.findall(r"\d+|\D+", name))
