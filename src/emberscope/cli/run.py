"""`emberscope run`: a job with the recorder; its output and exit code are its own, the summary comes after it."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emberscope.cli.main import complain
from emberscope.errors import EmberscopeError, StoreError, UsageError
from emberscope.recorder.settings import ENGINES, EVENTS_HELP

if TYPE_CHECKING:
    from emberscope.recorder.plan import Plan

DEFAULT_STORE: Final = "emberscope-runs"
STORE_VARIABLE: Final = "EMBERSCOPE_STORE"


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  emberscope run -- spark-submit --master yarn app.py
  emberscope run --store /data/runs -- python app.py
  emberscope run --events cpu,alloc,live,heap,io -- spark-submit app.py
  emberscope run --engine async-profiler --engine-path async-profiler.jar -- spark-submit app.py
""",
)
@click.option(
    "--store", metavar="DIR", help=f"Where runs are kept, on this host: ${STORE_VARIABLE}, else ./{DEFAULT_STORE}."
)
@click.option("--group", default="default", show_default=True, metavar="NAME", help="A name to keep runs together.")
@click.option("--engine", type=click.Choice(ENGINES), help="What takes the samples.")
@click.option("--engine-path", metavar="FILE", help="The jar or the library of async-profiler.")
@click.option("--events", metavar="LIST", help=EVENTS_HELP)
@click.option("--chunk-seconds", type=click.IntRange(min=1), help="How often a part of the recording is put away.")
@click.option(
    "--no-agent",
    is_flag=True,
    help="Start JVMs without the agent that makes the start of Flight Recorder cheap up to Java 22.",
)
@click.option("--report", metavar="FILE", help="Write the report here too.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(
    store: str | None,
    group: str,
    engine: str | None,
    engine_path: str | None,
    events: str | None,
    chunk_seconds: int | None,
    no_agent: bool,
    report: str | None,
    arguments: tuple[str, ...],
) -> int:
    """Run COMMAND with the recorder, then say where its time went.

    COMMAND is spark-submit, pyspark, spark-shell, spark-sql, python app.py, or any program that starts Spark. Its
    standard output and its exit code are its own; the summary goes to standard error. Nothing of its code or
    configuration is edited: what it sets already is added to.
    """
    from emberscope.cli.overwrite import check_output
    from emberscope.recorder import child
    from emberscope.recorder.plan import plan
    from emberscope.recorder.settings import check_events
    from emberscope.store.layout import check_group
    from emberscope.store.write import check_writable

    if arguments and arguments[0].startswith("-"):
        raise UsageError(f"No such option: {arguments[0]}.", hint="Try 'emberscope run --help'.")
    if not arguments:
        raise UsageError("a command is missing.", hint="Write it as in 'emberscope run -- spark-submit app.py'.")
    check_group(group)
    if events is not None:
        check_events(events)
    if store == "":
        raise UsageError("--store is empty.", hint="Name a directory, or leave it out.")
    place = _place(store)
    check_output(report, [str(place), *arguments])
    if engine_path is not None:
        engine_path = os.path.abspath(engine_path)
        if not os.path.isfile(engine_path):
            hint = (
                "Its jar is tools.profiler:async-profiler of Maven Central; its library is libasyncProfiler.so in it."
            )
            raise UsageError(f"--engine-path: there is no file {engine_path}.", hint=hint)
    chosen = {
        "engine": engine,
        "engine.path": engine_path,
        "events": events,
        "chunk.seconds": str(chunk_seconds) if chunk_seconds else None,
    }
    why_no_store = ""
    try:
        check_writable(place)
    except StoreError as error:
        why_no_store = str(error)
    jar, why_no_jar = _jar()
    started_ms = int(time.time() * 1000)
    with tempfile.TemporaryDirectory(prefix="emberscope-", ignore_cleanup_errors=True) as scratch:
        planned = plan(
            arguments,
            os.environ,
            store=None if why_no_store else place,
            why_no_store=why_no_store,
            group=group,
            jar=jar,
            why_no_jar=why_no_jar,
            chosen={name: value for name, value in chosen.items() if value is not None},
            with_agent=not no_agent,
            scratch=Path(scratch),
        )
        try:
            code = child.run(planned.launch.command, planned.launch.environment)
        except child.CannotStart as error:
            complain(error.reason)
            _remove_if_empty(planned.incoming)
            return error.code
        _close(planned, place, group, started_ms, code, report)
        _remove_if_empty(planned.incoming)
    return code


def _place(store: str | None) -> Path:
    """The store's directory. Raises `UsageError` for a URI of another file system.

    The summary after the job is made from files of this host.
    """
    from emberscope.recorder.merge import local_path

    given = store or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE
    path = local_path(given)
    if path is None:
        option = "--store" if store else f"${STORE_VARIABLE}"
        raise UsageError(
            f"{option} {given}: `run` keeps runs in a local directory.",
            hint=f"Name one here, or paste what 'emberscope conf --store {given} --jar URI' prints into the job's "
            "settings and read the run from a copy later.",
        )
    return Path(os.path.abspath(path))


def _jar() -> tuple[Path | None, str]:
    """The recorder's jar, or why it cannot be used."""
    from emberscope.recorder.jar import recorder_jar

    try:
        return recorder_jar(), ""
    except EmberscopeError as error:
        return None, str(error)


def _close(planned: Plan, store: Path, group: str, started_ms: int, code: int, report: str | None) -> None:
    """What comes after the job. Nothing that goes wrong here may change the job's exit code."""
    from emberscope.cli.ended import Ended, told_to_end

    try:
        with told_to_end():
            from emberscope.cli.closing import close

            close(planned, store, group, started_ms=started_ms, exit_code=code, report=report)
    except (KeyboardInterrupt, Ended):
        complain("interrupted: what was recorded is kept, but its summary was not finished.")
    except Exception as error:
        if os.environ.get("EMBERSCOPE_DEBUG"):
            traceback.print_exc()
        complain(f"the job is done, but its summary could not be made: {type(error).__name__}: {error}.")


def _remove_if_empty(incoming: Path) -> None:
    for directory in (incoming, incoming.parent):
        with suppress(OSError):
            directory.rmdir()
