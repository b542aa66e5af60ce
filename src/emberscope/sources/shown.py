"""Runs and errors under the names that people know, where they were read from a temporary place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from emberscope.errors import InputError
from emberscope.tables.coverage import Coverage
from emberscope.tables.run import Run

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Shown:
    """What is read from `place` is known by `name`, and in sentences by `words` (by the name where they are empty)."""

    place: str
    name: str
    words: str = ""


def shown_run(run: Run, place: str, name: str, words: str = "") -> Run:
    """The run with `name` for `place` wherever it says where something lies, and `words` for it in sentences."""

    def named(coverage: Coverage) -> Coverage:
        return Coverage(
            tuple(
                replace(note, message=note.message.replace(place, words or name), where=note.where.replace(place, name))
                for note in coverage.notes
            )
        )

    recordings = tuple(
        replace(facts, path=facts.path.replace(place, name), coverage=named(facts.coverage)) for facts in run.recordings
    )
    tables = dict(run.tables)
    if "log_events" in tables:
        tables["log_events"] = _shown_files(tables["log_events"], place, name)
    path = run.path.replace(place, name)
    return replace(run, path=path, coverage=named(run.coverage), recordings=recordings, tables=tables)


def _shown_files(events: pa.Table, place: str, name: str) -> pa.Table:
    import pyarrow as pa

    at = events.schema.get_field_index("file")
    files = [file and file.replace(place, name) for file in events["file"].to_pylist()]
    column = pa.array(files, pa.string()).dictionary_encode()
    return events.set_column(at, events.schema.field(at), column)


def shown_error(error: InputError, place: str, name: str) -> InputError:
    """The error with `name` for `place`."""
    path, reason, hint = (text.replace(place, name) for text in (error.path, error.reason, error.hint))
    return type(error)(path, reason, place=error.place.replace(place, name), hint=hint)
