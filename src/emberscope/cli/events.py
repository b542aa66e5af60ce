"""`emberscope events`: the events of a recording, one type as a table, or what types there are."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from emberscope.cli.inputs import Reading
from emberscope.cli.output import form_of, result, say, say_coverage, say_kernel, write_document, write_result
from emberscope.cli.overwrite import check_output
from emberscope.errors import InputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.jfr.tables import Stacks
    from emberscope.sources.events import Lost

_ENDINGS: Final = {".csv": "csv", ".json": "json", ".parquet": "parquet"}
_SCHEMA: Final = "emberscope.events/1"
_STACKS: Final[dict[str, tuple[Stacks, int]]] = {
    "csv": ("text", 1 << 17),
    "json": ("distinct", 1 << 17),
    "parquet": ("frames", 1 << 21),
}
"""By format: the form of stacks, and how many frames are held at a time: for Parquet, those of a row group."""


@click.command(
    epilog="""\b
Examples:
  emberscope events recording.jfr
  emberscope events recording.jfr --type GCHeapSummary > heap.csv
  emberscope events emberscope-runs --type jdk.CPULoad --format json
  emberscope events recording.jfr --type jdk.ExecutionSample -o samples.parquet
"""
)
@click.argument("recording", metavar="RECORDING")
@click.option("--type", "name", metavar="NAME", help="The event type, by its full name or the last part of it.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; its ending chooses the format.")
@click.option("--format", "form", type=click.Choice(["csv", "json", "parquet"]), help="Default: csv.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def command(recording: str, name: str | None, output: str | None, form: str | None, as_json: bool) -> None:
    """The events of one type in a recording as a table; without --type, the types that it holds.

    RECORDING is a .jfr file, plain or compressed, a directory of them, a run, a store (its newest run), or - for
    standard input. All events are there, those that no other verb uses as well, with the columns of the recording:
    units are in the list of types and in json and parquet. Of several recordings a first column names each. Secrets
    are replaced.

    csv writes a stack as one text, the leaf first; json and parquet all that is known of each frame. Times are UTC:
    ISO 8601 in csv, epoch milliseconds with six decimals in json, timestamps in parquet. Time spans are nanoseconds.
    """
    from emberscope.sources.at_hand import at_hand
    from emberscope.sources.events import Lost

    if as_json:
        if form not in (None, "json"):
            raise UsageError(f"--json and --format {form} cannot both be.")
        form = "json"
    form = form or form_of(output, _ENDINGS)
    if name is None and form not in (None, "json"):
        raise UsageError(f"{form} is of one event type.", hint="Name it with --type; without, types are listed.")
    if form == "parquet" and output in (None, "-") and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("Parquet is nothing for a terminal.", hint="Name a file: -o events.parquet.")
    check_output(output, [recording])
    say_kernel()
    with at_hand(recording) as place:
        lost = Lost({place.path: place.words})
        files = _files(place.path, "recording" if recording == "-" else None, form, lost)
        if name is None:
            _list_types(recording, files, form, output, lost)
        else:
            _write_events(recording, files, name, form or "csv", output, lost)
    Reading(problems=lost.problems).fail_if_incomplete()


def _files(place: str, kind: str | None, form: str | None, lost: Lost) -> list[str]:
    """The recordings there. Where there are none a JSON document says so as well, before the error."""
    from emberscope.sources.events import recordings_at

    try:
        return recordings_at(place, kind, lost)
    except InputError as error:
        if form != "json":
            raise
        lost.refuse(error)
        return []


def _list_types(recording: str, files: Sequence[str], form: str | None, output: str | None, lost: Lost) -> None:
    from emberscope.report.event_list import types_document, types_text
    from emberscope.sources.events import event_types

    types = event_types(files, lost)
    if form == "json":
        document = {"schema": _SCHEMA, "inputs": [recording], "types": types_document(types)}
        write_document(document | {"coverage": lost.coverage.document()}, output)
        return
    if types or not lost.problems:
        write_result(types_text(recording, types), output)
        _say(lost)


def _write_events(recording: str, files: Sequence[str], asked: str, form: str, output: str | None, lost: Lost) -> None:
    from emberscope.sources.events import event_tables, find_type

    stacks, most_frames = _STACKS[form]
    found = find_type(files, asked, stacks, lost)
    if found is None:
        if form == "json":
            _write_json(recording, asked, iter(()), None, output, lost)
        return
    name, schema = found
    tables = event_tables(files, name, stacks, most_frames, lost)
    if form == "json":
        _write_json(recording, name, tables, schema, output, lost)
        return
    (_write_csv if form == "csv" else _write_parquet)(tables, schema, output)
    _say(lost)


def _say(lost: Lost) -> None:
    """What is missing, hidden or left aside."""
    say_coverage(lost.coverage)
    say(*(f"note: {note.message}" for note in lost.coverage.notes if note.code in ("redacted", "limited")))


def _write_csv(tables: Iterator[pa.Table], schema: pa.Schema, output: str | None) -> None:
    from emberscope.report.event_text import csv_header, csv_lines

    with result(output) as write:
        write(csv_header(schema.names).encode())
        for table in tables:
            write(csv_lines(table, schema.names))
            write(b"\n")


def _write_json(
    recording: str,
    name: str,
    tables: Iterator[pa.Table],
    schema: pa.Schema | None,
    output: str | None,
    lost: Lost,
) -> None:
    from emberscope.report.event_list import columns_of
    from emberscope.report.event_text import json_objects

    head = {"schema": _SCHEMA, "inputs": [recording], "type": name}
    columns = columns_of(schema) if schema is not None else []
    start = json.dumps(head | {"columns": columns}, ensure_ascii=False, indent=1)
    with result(output) as write:
        write(start.removesuffix("\n}").encode() + b',\n "rows": [')
        between = b"\n"
        for table in tables:
            write(between)
            write(json_objects(table, schema.names if schema is not None else ()))
            between = b",\n"
        coverage = json.dumps(lost.coverage.document(), ensure_ascii=False, indent=1).replace("\n", "\n ")
        write(f'\n ],\n "coverage": {coverage}\n}}\n'.encode())


def _write_parquet(tables: Iterator[pa.Table], schema: pa.Schema, output: str | None) -> None:
    import pyarrow.parquet as pq

    from emberscope.sources.events import fitted

    with result(output) as write, pq.ParquetWriter(_Sink(write), schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(fitted(table, schema))


class _Sink(io.RawIOBase):
    """A file to write into, for Parquet, which asks where it is."""

    def __init__(self, write: Callable[[Any], object]) -> None:
        self._write = write
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position
