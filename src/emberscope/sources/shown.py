"""Runs and errors under the names that people know, where they were read from a temporary place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from emberscope.errors import InputError
from emberscope.tables.coverage import Coverage
from emberscope.tables.run import Run


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
    return replace(run, path=run.path.replace(place, name), coverage=named(run.coverage), recordings=recordings)


def shown_error(error: InputError, place: str, name: str) -> InputError:
    """The error with `name` for `place`."""
    path, reason, hint = (text.replace(place, name) for text in (error.path, error.reason, error.hint))
    return type(error)(path, reason, place=error.place.replace(place, name), hint=hint)
