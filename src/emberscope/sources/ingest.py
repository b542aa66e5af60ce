"""The tables of an input as Parquet files, in a directory of their own."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from emberscope.errors import InputError, StoreError, UsageError
from emberscope.eventlog.facts import facts
from emberscope.eventlog.read import read_into
from emberscope.eventlog.tasks import GROUP_ROWS
from emberscope.sources.load import Input, as_known, load
from emberscope.store.layout import safe_name
from emberscope.store.write import write_json
from emberscope.tables.coverage import Coverage, Note, total
from emberscope.tables.run import Run
from emberscope.tables.tasks import TASKS

SCHEMA: Final = "emberscope.ingest/1"
TABLES: Final = "tables"
DOCUMENT: Final = "ingest.json"
_GROUP_BYTES: Final = 12 << 20


@dataclass(frozen=True, slots=True)
class Ingested:
    """What was written: where, the document beside the tables, and the run without its tables."""

    directory: Path
    document: dict[str, Any]
    run: Run

    @property
    def rows(self) -> dict[str, int]:
        """The rows of each table by its name."""
        rows: dict[str, int] = self.document["tables"]
        return rows


def ingest(item: Input, into: Path, taken: set[str]) -> Ingested:
    """Writes the tables of one input to `into/<application>/tables/<name>.parquet`, with `ingest.json` beside them.

    The directory has the id of the application, and its attempt where it has one; an input that knows none has its
    own name. It is there whole or not at all, and replaces one that was written earlier; but not one of `taken`, the
    names in use, to which its own is added. An event log streams: its tasks are never all in memory.

    Raises `InputError` where the input cannot be read, `StoreError` where `into` cannot be written, and `UsageError`
    where something else has the directory's name.
    """
    with _new_directory(into) as directory:
        tables = directory / TABLES
        tables.mkdir()
        if item.kind == "event_log":
            run, rows = _stream(item.path, tables)
        else:
            run = load(item.path, item.kind, files=item.files)
            rows = {name: _write(table, tables / f"{name}.parquet") for name, table in run.tables.items()}
        run = as_known(item, run)
        described = _describe(item, run, dict(sorted(rows.items())))
        write_json(directory / DOCUMENT, described)
        place = into / _free_name(_name(run), taken)
        _put(directory, place)
    return Ingested(place, described, replace(run, tables={}))


def ingest_document(written: Sequence[Ingested], problems: Sequence[InputError]) -> dict[str, Any]:
    """The document of `ingest --json`: where the tables of each input are, and what could not be read."""
    unread = [Coverage((Note("missing_part", error.reason, error.path),)) for error in problems]
    return {
        "schema": SCHEMA,
        "inputs": [
            {"path": done.run.path, "kind": done.document["kind"], "coverage": done.run.coverage.document()}
            for done in written
        ]
        + [
            {"path": error.path, "kind": None, "coverage": coverage.document()}
            for error, coverage in zip(problems, unread, strict=True)
        ],
        "written": [{"directory": str(done.directory), "tables": done.rows} for done in written],
        "coverage": total([*unread, *(done.run.coverage for done in written)]).document(),
    }


def _describe(item: Input, run: Run, rows: dict[str, int]) -> dict[str, Any]:
    """What lies beside the tables: what they are of, the facts of an event log, and what is missing."""
    return {
        "schema": SCHEMA,
        "input": run.path,
        "kind": item.kind,
        "app": facts(run) if "stages" in run.tables else None,
        "recordings": [recording.document() for recording in run.recordings],
        "tables": rows,
        "coverage": run.coverage.document(),
    }


def _stream(path: str, tables: Path) -> tuple[Run, dict[str, int]]:
    with ExitStack() as stack:
        written: dict[str, _File] = {}

        def write(name: str, part: pa.Table) -> None:
            if name not in written:
                written[name] = stack.enter_context(_File(tables / f"{name}.parquet", part.schema))
            written[name].write(part)

        def file() -> BinaryIO:
            return cast(BinaryIO, stack.enter_context(tempfile.TemporaryFile(dir=tables)))

        write(TASKS.name, TASKS.empty())
        try:
            run = read_into(path, write, file)
        except OSError as error:
            if error.filename is None:  # it is the output
                raise
            raise InputError(path, f"cannot be read: {error.strerror or error}.") from error
    return run, {name: table.rows for name, table in written.items()}


class _File:
    """A Parquet file that is written in parts, which become row groups as large as readers like them."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.rows = 0
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, **_options(schema))
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def write(self, part: pa.Table) -> None:
        self.rows += part.num_rows
        if not part.num_rows:
            return
        self._waiting.append(part)
        self._waiting_rows += part.num_rows
        if self._waiting_rows >= GROUP_ROWS or sum(each.nbytes for each in self._waiting) >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            group = pa.concat_tables(self._waiting)
            self._waiting, self._waiting_rows = [], 0
            self._writer.write_table(group, row_group_size=2 * GROUP_ROWS)  # it is one group


def _write(table: pa.Table, path: Path) -> int:
    pq.write_table(table, path, row_group_size=GROUP_ROWS, **_options(table.schema))
    return int(table.num_rows)


def _options(schema: pa.Schema) -> dict[str, Any]:
    # Texts come again and again; of numbers a dictionary would be as long as the column.
    texts = [field.name for field in schema if not pa.types.is_primitive(field.type)]
    return {"compression": "zstd", "use_dictionary": texts}


def _name(run: Run) -> str:
    application = run.application
    if application.app_id is None:
        return safe_name("standard-input" if run.path == "-" else os.path.basename(os.path.abspath(run.path)))
    attempt = f"_{application.attempt}" if application.attempt else ""
    return safe_name(application.app_id + attempt)


def _free_name(name: str, taken: set[str]) -> str:
    """The name, or, where an input before this one has it, the name with a number."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free


@contextmanager
def _new_directory(parent: Path) -> Iterator[Path]:
    """An empty directory beside where it shall be; gone at the end if it still lies there."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            directory = Path(tempfile.mkdtemp(prefix=".ingest-", dir=parent))
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            directory.chmod(parent.stat().st_mode & 0o777)
            yield directory
    except OSError as error:
        raise StoreError(str(parent), f"cannot be written: {error.strerror or error}.") from error


def _put(directory: Path, place: Path) -> None:
    """Gives a directory its name; one that has it goes, if it was written by us."""
    if not place.exists():
        directory.rename(place)
        return
    if not (place / DOCUMENT).is_file():
        raise UsageError(f"{place} is there already, and not from `ingest`.", hint="Name another directory with -o.")
    with tempfile.TemporaryDirectory(prefix=".ingest-", dir=place.parent) as old:
        place.rename(Path(old, "old"))
        directory.rename(place)
