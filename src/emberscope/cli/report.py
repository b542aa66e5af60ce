"""`emberscope report`: one self-contained page about a run; or the same in short, for a ticket or a terminal."""

from __future__ import annotations

import sys
from typing import Final

import click

from emberscope.cli.inputs import kind_option, read_one
from emberscope.cli.output import form_of, say, say_coverage, terminal_width, wants_colour, write_result
from emberscope.errors import UsageError

_ENDINGS: Final = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".txt": "text"}


@click.command(
    epilog="""\b
Examples:
  emberscope report emberscope-runs -o report.html
  emberscope report emberscope-runs -o report.html --redact --theme dark
  emberscope report emberscope-runs --format md
  emberscope report emberscope-runs --format text
"""
)
@click.argument("run", metavar="RUN")
@click.option("-o", "--output", metavar="FILE", help="The file to write; .html, .md or .txt choose the format.")
@click.option("--format", "form", type=click.Choice(["html", "md", "text"]), help="Default: html; text on a terminal.")
@click.option(
    "--theme",
    type=click.Choice(["auto", "light", "dark"]),
    default="auto",
    help="Of the page; auto: as the system.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Pseudonyms for hosts, users, paths and the application's name, and no literals of SQL: to hand it on.",
)
@kind_option
def command(run: str, output: str | None, form: str | None, theme: str, redact: bool, kind: str | None) -> None:
    """One HTML file: where the time went, the findings, and the flame graph. It opens offline.

    RUN is a run, a store (its newest run), an event log, a recording, or - for standard input. Markdown is for a pull
    request or a ticket, text for a terminal; both go to standard output without -o.
    """
    on_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    form = form or form_of(output, _ENDINGS) or ("text" if on_terminal else "html")
    if form == "html" and on_terminal:
        raise UsageError("a page of HTML is nothing for a terminal.", hint="Name a file: -o report.html.")
    from emberscope.report.diagnosis import diagnose

    _, loaded, reading = read_one(run, kind, output=output, of_application=True)
    if redact:
        from emberscope.report.redaction import redacted

        loaded = redacted(loaded)
    item = diagnose(loaded)
    if form == "html":
        from emberscope.report.page import report_page

        write_result(report_page(item, theme=theme, redacted=redact), output)  # type: ignore[arg-type]
    elif form == "md":
        from emberscope.report.markdown import report_markdown

        where = "`emberscope report RUN -o report.html` makes it, with the flame graph."
        write_result(report_markdown(item, page=where), output)
    else:
        from emberscope.report.terminal import report_terminal

        write_result(report_terminal(item, width=terminal_width(), colour=wants_colour(output)), output)
    say_coverage(loaded.coverage)
    if output not in (None, "-"):
        say(f"report: {output}")
    reading.fail_if_incomplete()
