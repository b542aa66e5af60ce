"""The files of a rolling log by their names, `events_N_APPLICATION[_ATTEMPT][.CODEC][.compact]`: whose, in which order.

Spark keeps those of one application in a folder of its own. Copied together they lie loose, several logs in a folder:
such a log goes by the name of its files with `*` for their number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from emberscope.eventlog.gaps import gaps
from emberscope.tables.coverage import Note
from emberscope.units import counted

ROLLED: Final = re.compile(r"events_(\d+)_(.*)")
_LOOSE: Final = re.compile(r"events_\*_(.*)")


def whose(name: str) -> str | None:
    """Application and attempt in the name of a rolled file; None where it is none. Spark puts no dot into them."""
    found = ROLLED.match(name)
    return found[2].partition(".")[0] if found else None


def logs_among(names: Iterable[str]) -> list[str]:
    """The logs of which rolled files are among these names, each as in `whose`."""
    return sorted({of for name in names if (of := whose(name)) is not None})


def loose_logs(folder: str) -> list[str]:
    """Paths of the logs whose rolled files lie loose in a folder; empty where there are not several."""
    logs = logs_among(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))
    return [os.path.join(folder, f"events_*_{log}") for log in logs] if len(logs) > 1 else []


def loose_files(path: str) -> list[str]:
    """The names of the files of a log at such a path, in no order; empty where it is none, or a file has that name."""
    folder, name = os.path.split(path)
    found = _LOOSE.fullmatch(name)
    if found is None or os.path.exists(path) or not os.path.isdir(folder or "."):
        return []
    return [name for name in os.listdir(folder or ".") if whose(name) == found[1]]


def in_order(path: str, files: Iterable[str]) -> tuple[list[str], list[Note]]:
    """The rolled files of one log in order. A compacted file stands for itself and all files before it."""
    notes = []
    by_index: dict[int, str] = {}
    start = 0
    for name in files:
        found = ROLLED.match(name)
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
    # Spark begins with 1, and EMR with 0.
    begin = start or min(1, *indices, 1)
    missing, some = gaps(indices, begin, max(indices, default=begin))
    if missing:
        verb = "is" if missing == 1 else "are"
        notes.append(Note("missing_part", f"{counted(missing, 'rolled file')} {verb} missing: {some}.", where=path))
    return [by_index[index] for index in indices], notes
