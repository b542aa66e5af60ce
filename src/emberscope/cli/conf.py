"""`emberscope conf`: settings, the recorder's or those that findings advise, in the words of where they are pasted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from emberscope.cli.output import say, write_document, write_result
from emberscope.errors import UsageError
from emberscope.recorder.settings import ENGINES, EVENTS_HELP

DIALECTS: Final = ("spark-defaults", "flags", "python", "emr", "glue", "databricks", "k8s")


@click.command(
    epilog="""\b
Examples:
  emberscope conf --store s3a://bucket/runs --jar s3a://bucket/emberscope-recorder.jar
  emberscope conf --dialect flags --store /data/runs
  emberscope conf --dialect python --store /data/runs --event-log-dir hdfs:///spark-logs
  emberscope conf --store /data/runs --engine async-profiler --engine-path s3a://bucket/async-profiler.jar
  emberscope conf --from findings.json --dialect emr
"""
)
@click.option("--dialect", type=click.Choice(DIALECTS), default=DIALECTS[0], show_default=True)
@click.option(
    "--from",
    "findings",
    metavar="FINDINGS",
    help="What findings advise, not the recorder's settings: a file of `diagnose --json`, or any input to it.",
)
@click.option("--app", metavar="ID", help="With --from: the application, where there are several.")
@click.option("--store", metavar="DIR|URI", help="Where runs go: a path that all hosts see, or a URI.")
@click.option("--group", metavar="NAME", help="A name to keep runs together.")
@click.option("--jar", metavar="PATH|URI", help="The recorder's jar. Default: the one in this installation.")
@click.option(
    "--event-log-dir",
    metavar="DIR|URI",
    help="Where Spark writes the event log; it must be there. Default: `eventlogs` in a store that is a local path.",
)
@click.option("--engine", type=click.Choice(ENGINES), help="What takes the samples.")
@click.option(
    "--engine-path",
    metavar="PATH|URI",
    help="The jar of async-profiler, which Spark then brings to all hosts, or its library on each of them.",
)
@click.option("--events", metavar="LIST", help=EVENTS_HELP)
@click.option("--chunk-seconds", type=click.IntRange(min=1), help="How often a part of the recording is put away.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(
    dialect: str,
    findings: str | None,
    app: str | None,
    store: str | None,
    group: str | None,
    jar: str | None,
    event_log_dir: str | None,
    engine: str | None,
    engine_path: str | None,
    events: str | None,
    chunk_seconds: int | None,
    as_json: bool,
) -> None:
    """The settings to paste: those of the recorder, where `emberscope run` cannot start the job, or with --from those
    that findings advise, as one change.

    Those of the recorder switch on the recorder and the event log. Add to lists that you set already (spark.plugins,
    spark.jars) instead of replacing them, and keep the event log settings that you have.

    Spark does not start where the directory of its event logs is missing. So for a store that is a local path,
    the directory `eventlogs` is made in it; for a URI the event log is switched on only where --event-log-dir names
    a directory, and a run without one knows no stages.
    """
    if findings is not None:
        given = {"--store": store, "--group": group, "--jar": jar, "--event-log-dir": event_log_dir, "--events": events}
        given |= {"--engine": engine, "--engine-path": engine_path}
        given |= {"--chunk-seconds": str(chunk_seconds) if chunk_seconds else None}
        _write_patch(findings, app, dialect, [name for name, value in given.items() if value is not None], as_json)
        return
    if store is None:
        raise UsageError("neither --store nor --from is given.", hint="Name the store of the runs, or findings.")
    if app is not None:
        raise UsageError("--app chooses among findings.", hint="Name them with --from.")
    from emberscope.recorder.jar import recorder_jar
    from emberscope.recorder.merge import local_path
    from emberscope.recorder.settings import ASYNC_PROFILER, PLUGIN_CLASS, PREFIX, check_events
    from emberscope.store.layout import check_group

    store = _absolute(store, "--store")
    settings = {
        "spark.plugins": PLUGIN_CLASS,
        "spark.jars": ",".join([jar or str(recorder_jar()), *_engine_jar(engine_path)]),
        f"{PREFIX}store": store,
    }
    optional = {
        "group": check_group(group) if group else None,
        "engine": engine,
        "engine.path": local_path(engine_path) if engine_path else None,
        "events": check_events(events) if events is not None else None,
        "chunk.seconds": str(chunk_seconds) if chunk_seconds else None,
    }
    settings |= {f"{PREFIX}{name}": value for name, value in optional.items() if value is not None}
    event_log, words = _event_log(store, event_log_dir)
    settings |= event_log
    from emberscope.tuning.dialects import DIALECTS as WRITERS

    if as_json:
        write_document({"schema": "emberscope.conf/1", "dialect": dialect, "settings": settings})
    else:
        text = WRITERS[dialect](settings, ())
        write_result(text.text, None)
        for note in text.notes:
            say(f"note: {note}")
    say(f"note: {words}")
    if jar is None:
        say("note: spark.jars names the jar of this installation, and another host does not have it:")
        say("      copy it to where all hosts can read it, and name that with --jar.")
    if engine == "async-profiler" and engine_path is None:
        say(f"note: async-profiler is looked for on the class path: --packages {ASYNC_PROFILER} brings it there.")


def _engine_jar(path: str | None) -> list[str]:
    """A library is no jar: Spark cannot bring it."""
    return [path] if path is not None and path.endswith(".jar") else []


def _write_patch(findings: str, app: str | None, dialect: str, others: list[str], as_json: bool) -> None:
    """Prints the patch of the findings; what it has to say beside goes to standard error where the text has no room."""
    if others:
        raise UsageError(f"--from and {others[0]} ask for two things.", hint="Call conf twice.")
    from emberscope.cli.patch_source import patch_from
    from emberscope.tuning.dialects import written

    patch, problem = patch_from(findings, app)
    if as_json:
        parts = {"settings": patch.settings, "removed": list(patch.removed), **patch.document()}
        write_document({"schema": "emberscope.conf/1", "dialect": dialect, **parts})
    elif patch.settings:
        text = written(patch, dialect)
        write_result(text.text, None)
        for note in text.notes:
            say(f"note: {note}")
    else:
        say("The findings ask for no change of settings.")
        for note in patch.remarks():
            say(f"note: {note}")
    if problem is not None:
        raise problem


def _absolute(place: str, option: str) -> str:
    """A directory or URI as it holds wherever the job is started. Raises `UsageError` for what is neither."""
    from emberscope.recorder.merge import local_path

    if not place.strip():
        raise UsageError(f"{option} is empty.", hint="Name a directory or a URI.")
    path = local_path(place)
    if path is not None and os.path.exists(path) and not os.path.isdir(path):
        raise UsageError(f"{option} {place}: this is a file.", hint="Name a directory.")
    return os.path.abspath(place) if path == place else place


def _event_log(store: str, event_log_dir: str | None) -> tuple[dict[str, str], str]:
    """The event log's settings, and what to know of them. Its directory in a local store is made here and now."""
    from emberscope.recorder.merge import EVENT_LOG_DIR, EVENT_LOG_ENABLED, local_path
    from emberscope.store.layout import EVENT_LOGS

    if event_log_dir is not None:
        place = _absolute(event_log_dir, "--event-log-dir")
        path = local_path(place)
        place = Path(path).as_uri() if path is not None else place
        words = f"{place} must be there before the job starts: without it Spark ends with an error."
        return {EVENT_LOG_ENABLED: "true", EVENT_LOG_DIR: place}, words
    path = local_path(store)
    if path is None:
        words = (
            "the event log is left as it is. Switch it on with --event-log-dir and a directory that is there: "
            "a run without an event log knows no stages."
        )
        return {}, words
    directory = Path(path) / EVENT_LOGS
    try:
        directory.mkdir(parents=True, exist_ok=True)
        words = f"event logs go to {directory}, which is there now. It must be there on the driver's host too."
    except OSError as error:
        words = (
            f"make {directory} on the driver's host before the job starts: without it Spark ends with an error. "
            f"It could not be made here: {error.strerror}."
        )
    return {EVENT_LOG_ENABLED: "true", EVENT_LOG_DIR: directory.as_uri()}, words
