"""The verbs and where they live: each is a click command in its own file, loaded when it is called."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

import click

from emberscope import __version__
from emberscope.errors import UsageError

VERBS: Final = {
    "run": ("emberscope.cli.run:command", "Run a Spark job with the recorder, then say where its time went."),
    "summary": ("emberscope.cli.summary:command", "Facts of event logs, recordings and runs."),
    "diagnose": ("emberscope.cli.diagnose:command", "Why it was slow: ranked findings, each with evidence and advice."),
    "flame": ("emberscope.cli.flame:command", "Flame graph of a run or recording, or of a slice of it."),
    "events": ("emberscope.cli.events:command", "The events of a recording: one type as a table, or what there is."),
    "ingest": ("emberscope.cli.ingest:command", "The tables of event logs, recordings and runs as Parquet."),
    "report": ("emberscope.cli.report:command", "One self-contained HTML page about a run."),
    "calc": ("emberscope.cli.calc:command", "File splits, containers on a node, shapes of executors: arithmetic."),
    "explain": ("emberscope.cli.explain:command", "What a finding means, what it costs and what to do."),
    "bundle": ("emberscope.cli.bundle:command", "Everything that a helper asks for, in one redacted archive."),
    "conf": ("emberscope.cli.conf:command", "The settings to paste where `emberscope run` cannot be used."),
}
"""Verb to (module:command, one line for `--help`)."""

COMPLETE: Final = "_EMBERSCOPE_COMPLETE"
"""Set by the shell scripts that click makes for completion."""

EPILOG: Final = """\b
Examples:
  emberscope run -- spark-submit app.py
  emberscope diagnose emberscope-runs
  emberscope flame recording.jfr -o flame.html

Each verb has its own --help with an example.
"""


class LazyGroup(click.Group):
    """A click group that imports a verb's module only when that verb is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, _, name = VERBS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="emberscope %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error (as EMBERSCOPE_DEBUG=1 does).")
def emberscope(debug: bool) -> None:
    """Why is this Spark job slow? Record, see, diagnose and prove, in one offline tool."""


def call(arguments: list[str]) -> int:
    """Run one command line. Returns what the verb returned (its exit code), 0 where it returned nothing.

    Raises `UsageError`, in one sentence, for every call that click does not understand.
    """
    if COMPLETE in os.environ:
        emberscope.main(arguments, prog_name="emberscope")
    try:
        # Not click's own `main`: it ends the process by itself where the reader of our output has gone.
        with emberscope.make_context("emberscope", list(arguments or ["--help"])) as context:
            code = emberscope.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        place = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "emberscope"
        said = error.format_message().rstrip(".")
        raise UsageError(f"{said}.", hint=f"Try '{place} --help'.") from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return code if isinstance(code, int) else 0
