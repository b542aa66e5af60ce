"""The reader of Spark event logs: a path in, the tables of one application out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.errors import InputError
from emberscope.eventlog.ahead import ahead
from emberscope.eventlog.build import Builder
from emberscope.eventlog.codecs import PLAIN, decompress
from emberscope.eventlog.damage import damage_notes
from emberscope.eventlog.lines import LINE_BYTES, Block, blocks, stream_of
from emberscope.eventlog.parts import Part, parts_of
from emberscope.eventlog.rows import Files
from emberscope.kernel import NATIVE
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Application, Run
from emberscope.units import counted, format_bytes, format_count

_BUFFER_BYTES: Final = 1 << 20
_TOLD: Final = 5
"""Numbers of lines that a note names."""


def read_event_log(path: str) -> Run:
    """Reads the event log at `path`: a file, or a directory of rolled files; plain or compressed as Spark does.

    Gives the tables tasks, running_tasks, stages, jobs, executors, sql_executions, plan_nodes, plan_metrics and conf.
    Lines that are malformed or cut are counted in the coverage and skipped, and so are lines of more than
    `lines.LINE_BYTES`. Memory: a few blocks of lines (1 MiB of text), the tasks that run at one time, a byte for each
    task, and the tables; tasks take some 100 bytes each while they are collected, and 350 in their table.
    Raises `InputError` where `path` is no event log, or not one event of it can be read.
    """
    return _read(path, Builder())


def read_facts(path: str) -> Run:
    """As `read_event_log`, in memory that grows with stages and jobs only: what `facts` needs.

    The tables have the columns of `columns.FACTS_COLUMNS`, and there is `running_tasks`. Of secrets those are counted
    that were met: plans and accumulators are not looked at.
    """
    return _read(path, Builder(facts_only=True))


def read_into(path: str, into: Callable[[str, pa.Table], None], files: Files) -> Run:
    """As `read_facts`, and `into` gets all tables in parts, with their names.

    Table `tasks` comes in parts of `tasks.GROUP_ROWS` rows and a smaller one at the end; none if there are no tasks.
    What the other tables are made of lies in `files` until it is complete: memory does not grow with them.
    """
    return _read(path, Builder(into, files))


def _read(path: str, builder: Builder) -> Run:
    parts, notes = parts_of(path)
    with _no_collector():
        for part in parts:
            notes += _read_part(part, builder)
        if not +builder.event_counts:
            reason = f"not one of its lines ({format_count(builder.lines)}) is a whole Spark event."
            raise InputError(path, reason, hint="An event log has one event on each line; give it as Spark wrote it.")
        if not any("park" in name or name.startswith("DBC") for name in +builder.event_counts):
            some = ", ".join(name[:40] for name in list(+builder.event_counts)[:3])
            raise InputError(
                path, f"its events ({some}) are not Spark's.", hint="Give the event log of an application."
            )
        return run_of(path, parts, builder, notes)


def run_of(path: str, parts: Sequence[Part], builder: Builder, notes: Sequence[Note]) -> Run:
    """What a builder has of the log at `path`, with what is to be said of it besides `notes`, those of its files."""
    tables = builder.tables()
    application = builder.application(tables)
    compacted = any(".compact" in part.path for part in parts)
    of_log = _notes(builder, application, tables) + builder.column_notes()
    of_log += damage_notes(builder, application, tables, compacted=compacted)
    return Run(path, application, tables, Coverage((*notes, *of_log)))


def _notes(builder: Builder, application: Application, tables: dict[str, pa.Table]) -> list[Note]:
    """What there is to know of the log as a whole, besides the damage of its files."""
    notes = []
    if len(builder.started) > 1:
        who = ", ".join(builder.started[:3]) + (", ..." if len(builder.started) > 3 else "")
        message = f"The log is of {len(builder.started)} applications ({who}), which are counted as one here."
        notes.append(Note("unresolved", f"{message} Split it before each SparkListenerLogStart."))
    # The end that a malformed line held is told with that line.
    lost = builder.running.lost - builder.malformed
    if lost > 0:
        what = "task of a completed stage was" if lost == 1 else "tasks of completed stages were"
        message = f"{lost:,} {what} started, but the log has no end of {'it' if lost == 1 else 'them'}."
        notes.append(Note("dropped_events", message, "", {"events": lost}))
    running = pc.sum(tables["running_tasks"]["at_end"]).as_py() or 0
    if running and not (application.complete and "unfinished" in tables["jobs"]["status"].to_pylist()):
        verb = "task was" if running == 1 else "tasks were"
        notes.append(Note("limited", f"{running:,} {verb} running where the log ends."))
    if application.tasks.with_metrics and application.tasks.sums["executor_cpu_time_ns"] is None:
        notes.append(Note("limited", "The log has no CPU time of tasks, as Spark before 2.1 wrote none."))
    secrets = builder.redactor.count
    if secrets:
        what = "value that looks like a secret was" if secrets == 1 else "values that look like secrets were"
        message = f"{secrets:,} {what} replaced."
        if not builder.reads_plans:
            message += " Plans and accumulators, of which nothing is shown, were not looked through."
        notes.append(Note("redacted", message))
    return notes


def _read_part(part: Part, builder: Builder) -> list[Note]:
    damage: list[str] = []
    malformed: list[int] = []  # the first few
    malformed_count = malformed_bytes = cut_bytes = 0
    before, long_lines = builder.lines, len(builder.long_lines)
    with _opened(part) as stream:
        text = stream if part.codec == PLAIN else stream_of(decompress(stream, part.codec, damage))
        # The kernel lets go of the interpreter: its work goes on beside what is done with its results.
        work = ((block, builder.scan(block)) for block in _readable(part, blocks(text)))
        with closing(ahead(work) if NATIVE else work) as each:
            for block, scanned in each:
                first = builder.lines + 1
                bad = builder.add(block, scanned)
                if not bad:
                    continue
                lines = block.lines()
                if block.open_end and bad[-1] == builder.lines:
                    cut_bytes = len(lines[bad.pop() - first])
                malformed += [number - before for number in bad[: _TOLD - len(malformed)]]
                malformed_count += len(bad)
                malformed_bytes += sum(len(lines[number - first]) for number in bad)
    notes = []
    if malformed:
        lost: dict[str, float] = {"lines": malformed_count, "bytes": malformed_bytes}
        what = "no whole Spark event and was" if malformed_count == 1 else "no whole Spark events and were"
        message = f"{_numbered(malformed, malformed_count)} {what} left out."
        notes.append(Note("malformed_line", message, part.path, lost))
    if left_out := builder.long_lines[long_lines:]:
        lost = {"lines": len(left_out), "bytes": sum(size for _, size in left_out)}
        which = _numbered([number - before for number, _ in left_out], len(left_out))
        verb = "was" if len(left_out) == 1 else "were"
        message = f"{which} longer than {format_bytes(LINE_BYTES)} and {verb} left out."
        notes.append(Note("limited", message, part.path, lost))
    if damage or cut_bytes:
        why = [*damage, *(["the last line is cut"] if cut_bytes else [])]
        cut: dict[str, float] = {"lines": 1, "bytes": cut_bytes} if cut_bytes else {}
        notes.append(Note("cut", f"Some of the log is missing: {' and '.join(why)}.", part.path, cut))
    return notes


def _opened(part: Part) -> BinaryIO:
    try:
        # Blocks are as large as a buffer would be: plain text needs none.
        return open(part.path, "rb", buffering=0 if part.codec == PLAIN else _BUFFER_BYTES)
    except OSError as error:
        raise InputError(part.path, f"cannot be read: {error.strerror}.") from error


def _readable(part: Part, each: Iterator[Block]) -> Iterator[Block]:
    """The blocks of a part. What goes wrong here is the input's, and what goes wrong with them is not."""
    try:
        yield from each
    except OSError as error:
        raise InputError(part.path, f"cannot be read: {error.strerror}.") from error


def _numbered(lines: Sequence[int], count: int) -> str:
    """Which of `count` lines, by their first numbers: the beginning of a sentence."""
    if count == 1:
        return f"Line {lines[0]} is"
    some = ", ".join(str(number) for number in lines[:_TOLD])
    return f"{counted(count, 'line')} ({some}{', ...' if count > _TOLD else ''}) are"


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
