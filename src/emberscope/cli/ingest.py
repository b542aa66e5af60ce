"""`emberscope ingest`: the tables as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from emberscope.cli.inputs import kind_option, read_inputs
from emberscope.cli.output import write_document, write_result
from emberscope.units import counted, printable

if TYPE_CHECKING:
    from emberscope.sources.load import Input
    from emberscope.tables.run import Run


@click.command(
    epilog="""\b
Examples:
  emberscope ingest eventlog.zstd -o tables
  emberscope ingest logs/ -o tables
  duckdb -c "SELECT stage_id, sum(executor_run_time_ms) FROM 'tables/*/tables/tasks.parquet' GROUP BY 1"
"""
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", required=True, metavar="DIR", help="Where to; made if it is not there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document about what was written.")
@kind_option
def command(inputs: tuple[str, ...], output: str, as_json: bool, kind: str | None) -> None:
    """The tables of event logs, recordings and runs as Parquet files, a directory for each application.

    They lie at DIR/<application>/tables/<name>.parquet, with ingest.json beside them: what they are of, and what is
    missing. What was written before of the same application is replaced. An event log streams through in memory that
    hardly grows with it.
    """
    from emberscope.sources.ingest import Ingested, ingest, ingest_document
    from emberscope.sources.load import whole

    into = Path(output)
    written: list[Ingested] = []
    taken: set[str] = set()

    def read(item: Input) -> Run:
        written.append(ingest(item, into, taken))
        return written[-1].run

    reading = read_inputs(inputs, kind, read, whole)
    if as_json:
        write_document(ingest_document(written, reading.problems))
    elif written:
        lines = [f"{done.directory}: {counted(len(done.rows), 'table')} of {done.run.path}" for done in written]
        write_result(printable("\n".join(lines) + "\n"), None)
    reading.fail_if_incomplete()
