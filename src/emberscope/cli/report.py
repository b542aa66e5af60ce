"""`emberscope report`: one self-contained page about a run."""

from __future__ import annotations

import click

from emberscope.cli.inputs import kind_option, read_one
from emberscope.cli.output import say, say_coverage, write_result


@click.command(
    epilog="""\b
Example:
  emberscope report emberscope-runs -o report.html
"""
)
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", metavar="FILE.html", required=True, help="The file to write.")
@kind_option
def command(run: str, output: str, kind: str | None) -> None:
    """One HTML file: where the time went, the findings, and the flame graph. It opens offline.

    RUN is a run, a store (its newest run), an event log, a recording, or - for standard input.
    """
    from emberscope.report.diagnosis import diagnose
    from emberscope.report.page import report_page

    _, loaded, reading = read_one(run, kind, output=output, of_application=True)
    write_result(report_page(diagnose(loaded)), output)
    say_coverage(loaded.coverage)
    if output != "-":
        say(f"report: {output}")
    reading.fail_if_incomplete()
