"""`emberscope summary`: the facts of event logs, recordings and runs."""

from __future__ import annotations

import click

from emberscope.cli.inputs import kind_option, read_inputs
from emberscope.cli.output import write_document, write_result


@click.command(
    epilog="""\b
Examples:
  emberscope summary eventlog.zstd
  emberscope summary recording.jfr --json
  emberscope summary emberscope-runs
  emberscope summary --follow eventlog_v2_app-20261130085753-0000
"""
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option(
    "--follow",
    is_flag=True,
    help="Read on while Spark writes the event log, until the application ends: a line per change on standard error, "
    "with --json a document per change and line.",
)
@kind_option
def command(inputs: tuple[str, ...], as_json: bool, follow: bool, kind: str | None) -> None:
    """Facts of an event log, a recording or a run: how much of everything, nothing judged.

    INPUT is an event log, logs, a recording, collapsed stacks, the output of `perf script`, a directory or archive of
    these, a run, a store (its newest run), the URL of a file, a History Server or a running driver, or - for standard
    input.
    """
    if follow:
        from emberscope.cli.follow import follow_log

        follow_log(inputs, as_json=as_json)
        return
    from emberscope.report.summary import summarize, summary_document, summary_text
    from emberscope.sources.load import load_facts

    reading = read_inputs(inputs, kind, load_facts, summarize)
    document = summary_document([found for _, found in reading.results], reading.problems)
    if as_json:
        write_document(document)
    elif reading.results:
        write_result(summary_text(document), None)
    reading.fail_if_incomplete()
