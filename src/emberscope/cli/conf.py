"""`emberscope conf`: the recorder's settings in the words of the place where they are pasted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

import click

from emberscope.cli.output import say, write_document, write_result

DIALECTS: Final = ("spark-defaults", "flags", "python")


@click.command(
    epilog="""\b
Examples:
  emberscope conf --store s3a://bucket/runs --jar s3a://bucket/emberscope-recorder.jar
  emberscope conf --dialect flags --store /data/runs
  emberscope conf --dialect python --store /data/runs
"""
)
@click.option("--dialect", type=click.Choice(DIALECTS), default=DIALECTS[0], show_default=True)
@click.option("--store", required=True, metavar="DIR|URI", help="Where runs go: a path that all hosts see, or a URI.")
@click.option("--group", metavar="NAME", help="A name to keep runs together.")
@click.option("--jar", metavar="PATH|URI", help="The recorder's jar. Default: the one in this installation.")
@click.option("--events", metavar="LIST", help="What is sampled, such as cpu,alloc,lock,gc.")
@click.option("--chunk-seconds", type=click.IntRange(min=1), help="How often a part of the recording is put away.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(
    dialect: str,
    store: str,
    group: str | None,
    jar: str | None,
    events: str | None,
    chunk_seconds: int | None,
    as_json: bool,
) -> None:
    """The settings to paste where `emberscope run` cannot start the job.

    They switch on the event log and the recorder. Add to lists that you set already (spark.plugins, spark.jars)
    instead of replacing them.
    """
    from emberscope.recorder.jar import recorder_jar
    from emberscope.recorder.settings import PLUGIN_CLASS, PREFIX
    from emberscope.store.layout import check_group

    settings = {
        "spark.plugins": PLUGIN_CLASS,
        "spark.jars": jar or str(recorder_jar()),
        "spark.eventLog.enabled": "true",
        f"{PREFIX}store": store,
    }
    optional = {
        "group": check_group(group) if group else None,
        "events": events,
        "chunk.seconds": str(chunk_seconds) if chunk_seconds else None,
    }
    settings |= {f"{PREFIX}{name}": value for name, value in optional.items() if value is not None}
    if as_json:
        write_document({"schema": "emberscope.conf/1", "dialect": dialect, "settings": settings})
    else:
        write_result(in_dialect(settings, dialect), None)
    say("note: spark.eventLog.dir must name a directory that exists; Spark's own default is /tmp/spark-events.")


def in_dialect(settings: Mapping[str, str], dialect: str) -> str:
    """The settings as lines of `spark-defaults.conf`, as spark-submit's arguments, or as Python."""
    if dialect == "flags":
        flags = [f"--conf {shlex.quote(f'{key}={value}')}" for key, value in settings.items()]
        return " \\\n".join(flags) + "\n"
    if dialect == "python":
        calls = "".join(f"    .config({key!r}, {value!r})\n" for key, value in settings.items())
        return f"builder = (\n    SparkSession.builder\n{calls})\n"
    from emberscope.recorder.properties import line

    return "".join(line(key, value) for key, value in settings.items())
