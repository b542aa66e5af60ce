"""Logs and questions as runs of which nothing but what was written is known, in table `log_events`."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from emberscope.errors import InputError
from emberscope.logs.gc_log import read_gc_log
from emberscope.logs.head import Head
from emberscope.logs.hs_err import read_hs_err
from emberscope.logs.instance_state import looks_like_instance_state
from emberscope.logs.matcher import Matcher
from emberscope.logs.place import Place, place_of
from emberscope.logs.question import Question, read_question
from emberscope.logs.read import LogReader
from emberscope.logs.rows import table_of
from emberscope.logs.sniff import has_prose
from emberscope.sources.kind import kind_of_jvm_file, read_head, unpack_head
from emberscope.sources.log_clocks import ahead_of_driver
from emberscope.sources.node_states import read_node_state
from emberscope.sources.plain import plain_stream
from emberscope.sources.question import told_by_line, with_facts
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Application, Run

if TYPE_CHECKING:
    from emberscope.logs.signature import Signature

_MOST_ASKED: Final = 32 * 1024
"""Bytes of a text in which somebody may have asked something."""
_MOST_FAILURES: Final = 5000
"""Texts of one table of an event log; they are alike."""

# Table, column with the text, with the time, with the executor.
_TEXTS: Final = (
    ("executor_events", "reason", "time_ms", "executor_id"),
    ("executors", "removed_reason", "removed_ms", "executor_id"),
    ("tasks", "error_message", "finish_ms", "executor_id"),
    ("stages", "failure_reason", "completed_ms", None),
    ("jobs", "error_message", "completed_ms", None),
    ("sql_executions", "error_message", "ended_ms", None),
)


def load_log(path: str, signatures: Sequence[Signature] = (), *, files: Sequence[str] = ()) -> Run:
    """A log, or the `files` of a directory of logs of one application, as a run.

    Raises `InputError` where none of them can be read.
    """
    reader = LogReader(Matcher(signatures))
    places: list[Place] = []
    notes: list[Note] = []
    ahead = ahead_of_driver(files) if len(files) > 1 else {}
    for file in files or (path,):
        place = place_of(file)
        place.ahead_ms = ahead.get(file, 0)
        try:
            with plain_stream(Path(file)) as (stream, missing):
                head = unpack_head(read_head(Path(file)))
                if looks_like_instance_state(head):
                    read_node_state(reader, stream, file)
                else:
                    _read(reader, stream, place, kind_of_jvm_file(head))
            if missing():
                notes.append(Note("cut", f"Of this log the end is not there: {missing()}.", file))
        except OSError as error:
            notes.append(Note("missing_part", f"A log cannot be read: {error.strerror or error}.", file))
            if not files:
                raise
            continue
        places.append(place)
    if any(ahead.values()):
        count = sum(map(bool, ahead.values()))
        message = f"The times of {count} of {len(files)} logs are of another zone: they were put on the driver's clock."
        notes.append(Note("clock_skew", message, path))
    if not places:
        raise InputError(path, notes[0].message if notes else "it holds no log.")
    if not files and os.path.getsize(path) <= _MOST_ASKED:
        data = Path(path).read_bytes()
        text = data.decode("utf-8", "replace")
        if kind_of_jvm_file(data) is None and has_prose(text):
            _tell(reader, text, path)
    return _run(path, reader, places, notes)


def _read(reader: LogReader, stream: BinaryIO, place: Place, of_jvm: str | None) -> None:
    """All of one log. What a JVM writes of itself is summed up in a few records; all else is read as it is."""
    if of_jvm is None:
        reader.read(stream, place)
        return
    for record in read_gc_log(stream) if of_jvm == "gc_log" else read_hs_err(stream):
        head = Head(0, record.time_ms, record.time_ms is not None, record.level)
        reader.add(record.lines, place, head, line=record.line, keep=True)


def load_question(path: str, signatures: Sequence[Signature] = ()) -> Run:
    """A question in plain words, with whatever lines of logs stand in it."""
    text = Path(path).read_bytes().decode("utf-8", "replace")
    return run_of_question(text, signatures, path)


def run_of_text(text: str, signatures: Sequence[Signature] = (), path: str = "log") -> Run:
    """The run that a log with this text is."""
    reader = LogReader(Matcher(signatures))
    place = place_of(path)
    reader.read(io.BytesIO(text.encode("utf-8", "surrogateescape")), place)
    if len(text) <= _MOST_ASKED and has_prose(text):
        _tell(reader, text, path)
    return _run(path, reader, [place], [])


def run_of_question(text: str, signatures: Sequence[Signature] = (), path: str = "question") -> Run:
    """The run that a question with this text is: what it quotes of logs, and what it tells in words."""
    reader = LogReader(Matcher(signatures))
    place = Place(path)
    reader.read(io.BytesIO(text.encode("utf-8", "surrogateescape")), place)
    question = _tell(reader, text, path, always=True)
    return with_facts(_run(path, reader, [place], []), question)


def _tell(reader: LogReader, text: str, path: str, *, always: bool = False) -> Question:
    """Add what a text tells in words and no line of it has said: a row for each line at which something begins; with
    `always` one that says nothing too. What stands in the text."""
    quoted = {name for row in reader.folding.rows for name in row.values["signatures"]}
    words = reader.redactor.text(text.replace("\r\n", "\n")) or ""
    question = read_question(words, reader.matcher.signatures)
    told = [one for one in question.found if (always or one.by_words) and one.signature not in quoted]
    for line, message, found in told_by_line(told, words) if told or always else ():
        values: dict[str, Any] = {
            "message": message,
            "text": words[:8000],
            "causes": [],
            "frames": [],
            "level": None,
            "logger": None,
            "file": path,
            "line": line,
            "executor_id": None,
        }
        reader.folding.add(values, None, {one.signature: one.fields for one in found}, ())
    return question


def with_log_events(run: Run, signatures: Sequence[Signature]) -> Run:
    """The run of an event log, with the reasons and errors in it as table `log_events`."""
    reader = LogReader(Matcher(signatures))
    for name, column, when, who in _TEXTS:
        table = run.tables.get(name)
        if table is None or column not in table.column_names:
            continue
        failed = table.filter(table[column].is_valid())[:_MOST_FAILURES]
        keys = [key for key in (column, when, who) if key is not None and key in failed.column_names]
        for row in failed.select(keys).to_pylist():
            if row[column]:
                place = Place(run.path, executor_id=row.get(who or ""), app_id=run.application.app_id)
                head = Head(0, row.get(when))
                reader.add(row[column].split("\n"), place, head, line=None, keep=True)
    return replace(run, tables={**run.tables, "log_events": table_of(reader.folding.rows)})


def _run(path: str, reader: LogReader, places: Iterable[Place], notes: Sequence[Note]) -> Run:
    known = list(places)

    def said(name: str) -> str | None:
        return next((getattr(place, name) for place in known if getattr(place, name)), None)

    application = Application(
        app_id=said("app_id"),
        app_name=said("app_name"),
        spark_version=said("spark_version"),
        app_start_ms=reader.started_ms,
        last_event_ms=reader.last_ms if reader.started_ms is not None else None,
        lines=reader.lines,
    )
    executors = {container: (executor, host) for executor, (container, host) in reader.containers.items()}
    for row in reader.folding.rows:
        executor, host = executors.get(row.values.get("container_id") or "", (None, None))
        row.values["executor_id"] = row.values.get("executor_id") or executor
        row.values["host"] = row.values.get("host") or host
    return Run(
        path=path,
        application=application,
        tables={"log_events": table_of(reader.folding.rows)},
        coverage=Coverage((*notes, *_limits(path, reader))),
    )


def _limits(path: str, reader: LogReader) -> list[Note]:
    notes = []
    if reader.cut_bytes:
        message = "Of lines longer than 16 MiB the beginning is read."
        notes.append(Note("limited", message, path, {"bytes": float(reader.cut_bytes)}))
    if reader.folding.beyond:
        message = "More kinds of warnings and errors than are kept: the first are there."
        notes.append(Note("limited", message, path, {"events": float(reader.folding.beyond)}))
    if reader.redactor.count:
        notes.append(Note("redacted", f"{reader.redactor.count} secrets were taken out of lines.", path))
    return notes
