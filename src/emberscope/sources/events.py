"""Events of one type, or what types there are, over any number of recordings."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emberscope import jfr
from emberscope.errors import InputError, UsageError
from emberscope.jfr.chunks import descriptions
from emberscope.sources.kind import is_recording, members_of
from emberscope.sources.load import find_inputs
from emberscope.tables.coverage import Coverage, Note
from emberscope.units import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.jfr.tables import Stacks

RECORDING: Final = "recording"
"""The column that says which of several recordings an event is of."""
_MOST_NAMED: Final = 5


@dataclass(slots=True)
class Lost:
    """What reading came upon: the notes of all recordings, and those of which nothing could be read.

    `names` are other names of paths, for people.
    """

    names: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)

    def add(self, *notes: Note) -> None:
        self.notes += [replace(note, where=self.names.get(note.where, note.where)) for note in notes]

    def refuse(self, error: InputError) -> None:
        path = self.names.get(error.path, error.path)
        self.problems.append(InputError(path, error.reason, place=error.place, hint=error.hint))
        self.notes.append(Note("missing_part", error.reason, path))

    @property
    def coverage(self) -> Coverage:
        return Coverage() + Coverage(tuple(self.notes))


@dataclass(frozen=True, slots=True)
class EventType:
    """A type with how many events of it there are. `schema` is that of its tables (`emberscope.jfr.tables`)."""

    name: str
    events: int
    schema: pa.Schema


def recordings_at(path: str, kind: str | None, lost: Lost) -> list[str]:
    """The recording files at a path: itself, those of a directory, or of a run or the newest run of a store.

    Members of a directory that are nothing we know are told to `lost`. Raises `InputError` where there is none.
    """
    found, problems = find_inputs(path, kind)
    for error in problems:
        lost.refuse(error)
    files: list[str] = []
    for item in found:
        if item.of_runs > 1:
            lost.add(Note("limited", f"the store holds {item.of_runs} runs; this is the newest", item.path))
        if item.kind == "recording":
            files += item.files or _files(item.path)
        elif item.kind == "run":
            files += _files(item.path)
    if not files:
        what = found[0].kind.replace("_", " ") if found else "directory"
        raise InputError(path, f"events are those of recordings (.jfr), and there is none: this is kind {what!r}.")
    return files


def _files(path: str) -> list[str]:
    place = Path(path)
    return [str(file) for file in members_of(place) if is_recording(file)] if place.is_dir() else [path]


def event_types(files: Sequence[str], lost: Lost) -> list[EventType]:
    """The types of which there are events, the most frequent first."""
    counts: Counter[str] = Counter()
    for file in files:
        try:
            chunks = jfr.read(file, types=())
            for chunk in chunks:
                counts.update(chunk.event_counts)
            lost.add(*chunks.coverage.notes)
        except InputError as error:
            lost.refuse(error)
    schemas = _schemas(files, counts, "text")
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [EventType(name, count, schemas[name]) for name, count in ranked if name in schemas]


def find_type(files: Sequence[str], asked: str, stacks: Stacks, lost: Lost) -> tuple[str, pa.Schema] | None:
    """The full name of the event type that was asked for, by it or by its last part, and the schema of all its tables.

    None where nothing at all can be read; why is told to `lost`. Raises `UsageError`, with names that are near, where
    there is no such type or several. With several files the schema begins with `RECORDING`.
    """
    import pyarrow as pa

    names = _names(files)
    if not names:
        for file in files:
            try:
                with jfr.read(file, types=()) as chunks:
                    next(chunks)
            except InputError as error:
                lost.refuse(error)
        if len(lost.problems) >= len(files):
            return None
    name = _chosen(asked, names)
    schema = _schemas(files, (name,), stacks)[name]
    if len(files) > 1 and RECORDING not in schema.names:
        schema = schema.insert(0, pa.field(RECORDING, pa.dictionary(pa.int32(), pa.string())))
    return name, schema


def event_tables(files: Sequence[str], name: str, stacks: Stacks, most_frames: int, lost: Lost) -> Iterator[pa.Table]:
    """The events of a type in tables of bounded size, recording by recording and chunk by chunk, in their order.

    A table has the columns of its own chunk, and `RECORDING` where there are several files. What is missing, also what
    was hidden as a secret, is told to `lost`.
    """
    import pyarrow as pa

    hidden = 0
    base = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files]) if len(files) > 1 else ""
    for file in files:
        try:
            chunks = jfr.read(file, types=(name,))
            unresolved = 0
            for chunk in chunks:
                found = chunk.metadata.by_name.get(name)
                if found is not None and found.id in chunk.layouts:
                    for table in chunk.tables.pieces(name, stacks=stacks, most_frames=most_frames):
                        if base and RECORDING not in table.column_names:
                            of = pa.DictionaryArray.from_arrays(
                                pa.array([0] * len(table), pa.int32()), [os.path.relpath(file, base)]
                            )
                            table = table.add_column(0, RECORDING, of)
                        yield table
                    hidden += chunk.tables.redacted
                    unresolved += chunk.tables.unresolved
                del chunk  # not held while the next one is waited for
            lost.add(*chunks.coverage.notes)
            if unresolved:
                message = f"{counted(unresolved, 'reference')} to what the recording does not hold"
                lost.add(Note("unresolved", message, file))
        except InputError as error:
            lost.refuse(error)
    if hidden:
        message = f"{counted(hidden, 'value')} that look like secrets were replaced"
        lost.add(Note("redacted", message))


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with all fields of a schema over it: null where it lacks one."""
    import pyarrow as pa

    columns = [
        table[field.name].cast(field.type) if field.name in table.column_names else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _names(files: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for chunk in _described(files):
        types = chunk.metadata.types
        names.update(types[type_id].name for type_id in chunk.metadata.event_ids if type_id in chunk.layouts)
    return names


def _described(files: Iterable[str]) -> Iterator[jfr.Chunk]:
    for file in files:
        try:
            yield from descriptions(file)
        except InputError:  # told when its events are read
            continue


def _chosen(asked: str, names: set[str]) -> str:
    if asked in names:
        return asked
    folded = asked.lower()
    for matching in (
        [name for name in names if name.lower() == folded],
        [name for name in names if name.lower().rpartition(".")[2] == folded],
    ):
        if len(matching) == 1:
            return matching[0]
        if matching:
            raise UsageError(f"{asked!r} is several event types.", hint=f"Give one of {', '.join(sorted(matching))}.")
    by_last_part = {name.lower().rpartition(".")[2]: name for name in sorted(names)}
    by_whole = {name.lower(): name for name in names}
    near = [by_whole[found] for found in difflib.get_close_matches(folded, by_whole, _MOST_NAMED)]
    last_part = folded.rpartition(".")[2]
    near += [by_last_part[found] for found in difflib.get_close_matches(last_part, by_last_part, _MOST_NAMED)]
    near += [name for name in sorted(names) if last_part and last_part in name.lower()]
    shown = ", ".join(list(dict.fromkeys(near))[:_MOST_NAMED])
    hint = f"Near are {shown}." if shown else "`emberscope events` without --type lists what there is."
    raise UsageError(f"the recording knows no event type {asked!r}.", hint=hint)


def _schemas(files: Iterable[str], names: Iterable[str], stacks: Stacks) -> dict[str, pa.Schema]:
    """The schemas of event types over all descriptions of them."""
    wanted = list(names)
    schemas: dict[str, pa.Schema] = {}
    for chunk in _described(files):
        for name in wanted:
            found = chunk.metadata.by_name.get(name)
            if found is not None and found.id in chunk.layouts:
                schema = chunk.table(name, stacks=stacks).schema
                schemas[name] = _joined(schemas[name], schema) if name in schemas else schema
    return schemas


def _joined(first: pa.Schema, second: pa.Schema) -> pa.Schema:
    """All fields of both. Where their types differ it is the wider one, or a text where none is."""
    import pyarrow as pa

    for new in second:
        place = first.get_field_index(new.name)
        if place < 0:
            first = first.append(new)
        elif (old := first.field(place)).type != new.type:
            try:
                kinds = [pa.schema([pa.field("x", kind)]) for kind in (old.type, new.type)]
                kind = pa.unify_schemas(kinds, promote_options="permissive").field(0).type
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                kind = pa.string()
            first = first.set(place, old.with_type(kind))
    return first
