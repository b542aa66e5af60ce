"""The reader of Spark event logs: a path in, the tables of one application out."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.errors import InputError
from emberscope.eventlog.build import Builder
from emberscope.eventlog.codecs import PLAIN, decompress
from emberscope.eventlog.damage import damage_notes
from emberscope.eventlog.lines import blocks, stream_of
from emberscope.eventlog.parts import Part, parts_of
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run

_BUFFER_BYTES: Final = 1 << 20


def read_event_log(path: str) -> Run:
    """Reads the event log at `path`: a file, or a directory of rolled files; plain or compressed as Spark does.

    Gives the tables tasks, running_tasks, stages, jobs, executors, sql_executions, plan_nodes, plan_metrics and conf.
    Lines that are malformed or cut are counted in the coverage and skipped. Memory: one block of lines (1 MiB of text),
    the tasks that run at one time, and the tables.
    Raises `InputError` where `path` is no event log, or not one event of it can be read.
    """
    parts, notes = parts_of(path)
    builder = Builder()
    with _no_collector():
        for part in parts:
            notes += _read_part(part, builder)
        if not +builder.event_counts:
            raise InputError(path, f"not one of its {builder.lines} lines is a whole Spark event.")
        tables = builder.tables()
    application = builder.application(tables)
    notes += _notes(builder, tables)
    notes += damage_notes(builder, tables, compacted=any(".compact" in part.path for part in parts))
    return Run(path, application, tables, Coverage(tuple(notes)))


def _notes(builder: Builder, tables: dict[str, pa.Table]) -> list[Note]:
    """What there is to know of the log as a whole, besides the damage of its files."""
    notes = []
    # The end that a malformed line held is told with that line.
    lost = builder.running.lost - builder.malformed
    if lost > 0:
        what = "task of a completed stage was" if lost == 1 else "tasks of completed stages were"
        message = f"{lost:,} {what} started, but the log has no end of {'it' if lost == 1 else 'them'}."
        notes.append(Note("dropped_events", message, "", {"events": lost}))
    running = pc.sum(tables["running_tasks"]["at_end"]).as_py() or 0
    if running:
        verb = "task was" if running == 1 else "tasks were"
        notes.append(Note("limited", f"{running:,} {verb} running where the log ends."))
    tasks = tables["tasks"]
    if pc.sum(tasks["has_metrics"]).as_py() and tasks["executor_cpu_time_ns"].null_count == tasks.num_rows:
        notes.append(Note("limited", "The log has no CPU time of tasks, as Spark before 2.1 wrote none."))
    secrets = builder.redactor.count
    if secrets:
        what = "value that looks like a secret was" if secrets == 1 else "values that look like secrets were"
        notes.append(Note("redacted", f"{secrets:,} {what} replaced."))
    return notes


def _read_part(part: Part, builder: Builder) -> list[Note]:
    damage: list[str] = []
    malformed: list[int] = []
    malformed_bytes = cut_bytes = 0
    try:
        with open(part.path, "rb", buffering=_BUFFER_BYTES) as stream:
            text = stream if part.codec == PLAIN else stream_of(decompress(stream, part.codec, damage))
            for block in blocks(text):
                bad = builder.add(block)
                if bad and block.open_end and bad[-1] == block.first + len(block.lines) - 1:
                    cut_bytes = len(block.lines[bad.pop() - block.first])
                malformed += bad
                malformed_bytes += sum(len(block.lines[number - block.first]) for number in bad)
    except OSError as error:
        raise InputError(part.path, f"cannot be read: {error.strerror}.") from error
    notes = []
    if malformed:
        some = ", ".join(str(number) for number in malformed[:5]) + (", ..." if len(malformed) > 5 else "")
        lost: dict[str, float] = {"lines": len(malformed), "bytes": malformed_bytes}
        notes.append(Note("malformed_line", f"Not whole Spark events: line {some}.", part.path, lost))
    if damage or cut_bytes:
        why = [*damage, *(["the last line is cut"] if cut_bytes else [])]
        cut: dict[str, float] = {"lines": 1, "bytes": cut_bytes} if cut_bytes else {}
        notes.append(Note("cut", f"Some of the log is missing: {' and '.join(why)}.", part.path, cut))
    return notes


@contextmanager
def _no_collector() -> Iterator[None]:
    """Millions of short-lived records, none of them in a cycle: the collector would only cost time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
