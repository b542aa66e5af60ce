"""The files of a Databricks cluster log: which they are, their order, and which of them lack or repeat.

A driver writes `eventlog`; now and then that becomes `eventlog-2024-01-31--13-00.gz`, and a new one is begun. Each file
begins with an event that says how many came before it.
"""

from __future__ import annotations

import filecmp
import os
import re
from typing import Final

import msgspec

from emberscope.errors import InputError
from emberscope.eventlog.codecs import text_head
from emberscope.eventlog.gaps import gaps
from emberscope.tables.coverage import Note
from emberscope.units import counted

_ROLLED_OVER: Final = re.compile(r"eventlog-\d{4}-\d\d-\d\d--\d\d-\d\d")
_CURRENT: Final = re.compile(r"eventlog(?:\.\w+)*")
_METADATA: Final = re.compile(rb'^\{"Event":"DBCEventLoggingListenerMetadata".*', re.MULTILINE)


class _Metadata(msgspec.Struct):
    number: int | None = msgspec.field(default=None, name="Rollover Number")
    context: int | None = msgspec.field(default=None, name="SparkContext Id")


def is_databricks_part(name: str) -> bool:
    """Whether a file has the name of one that was rolled over: with its date."""
    return _ROLLED_OVER.match(name) is not None


def is_databricks_name(name: str) -> bool:
    """Whether a file has any of the names in such a folder: with a date, or bare for the one that is written to."""
    return is_databricks_part(name) or _CURRENT.fullmatch(name) is not None


def in_order(path: str, heads: list[tuple[str, bytes]]) -> tuple[list[tuple[str, bytes]], list[Note]]:
    """The files, each with its beginning, as they were written, and what lacks or is there twice.

    Raises `InputError` where they are of several applications.
    """
    ordered = sorted(heads, key=lambda item: (not is_databricks_part(item[0]), natural_key(item[0])))
    said = [_metadata(head) for _, head in ordered]
    contexts = {metadata.context for metadata in said} - {None}
    if len(contexts) > 1:
        hint = "Put the files of each into a folder of its own."
        raise InputError(path, f"holds the event logs of {len(contexts)} applications, mixed.", hint=hint)
    chosen, notes = [], []
    first: dict[int, str] = {}
    unknown = 0
    for (name, head), metadata in zip(ordered, said, strict=True):
        if metadata.number is not None and metadata.number in first:
            message = f"{name} is part {metadata.number} again, as {first[metadata.number]} is, and was left out."
            notes.append(Note("duplicate_part", message, where=path))
            continue
        if metadata.number is None:
            unknown += 1
        else:
            first[metadata.number] = name
        chosen.append((name, head))
    missing, some = gaps(first, 0, max(first, default=0))
    if missing > unknown:
        count = missing - unknown
        of = "" if not unknown else "one of " if count == 1 else "some of "
        message = f"{counted(count, 'rolled file')} {'is' if count == 1 else 'are'} missing: {of}{some}."
        notes.append(Note("missing_part", message, path))
    return chosen, notes


def repeated_folders(path: str) -> list[str]:
    """Folders in the folder of a log that hold nothing but files that are in it as well, byte for byte."""
    repeated = []
    for folder in sorted(entry.name for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)):
        files = [entry for entry in os.scandir(os.path.join(path, folder)) if not entry.name.startswith(".")]
        if files and all(
            is_databricks_name(entry.name)
            and os.path.isfile(os.path.join(path, entry.name))
            and filecmp.cmp(entry.path, os.path.join(path, entry.name), shallow=False)
            for entry in files
        ):
            repeated.append(folder)
    return repeated


def _metadata(head: bytes) -> _Metadata:
    found = _METADATA.search(text_head(head))
    try:
        return msgspec.json.decode(found[0], type=_Metadata) if found else _Metadata()
    except msgspec.MsgspecError:
        return _Metadata()


def natural_key(name: str) -> tuple[tuple[int, int | str], ...]:
    """Sorts numbers within names as numbers: 10 comes after 9."""
    return tuple((0, int(run)) if run.isdigit() else (1, run) for run in re.findall(r"\d+|\D+", name))
