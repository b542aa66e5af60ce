"""The class that was to be started is not in what was submitted.

## What it means
`spark-submit` or the JVM of a container looked for the class to start and did not find it. Either its name is not that
of the class (package and all), or the jar that was given does not hold it, or the jar could not be fetched. Where the
class is Spark's own, the libraries of Spark did not reach the container: `spark.yarn.jars` or `spark.yarn.archive` name
something that is not there or is packed in another way.

## What it costs
The application does not start: no job has run, and nothing was read or written before it ended.

## What to do
List the jar and compare the name. For classes of Spark itself mend the setting of its libraries.

## When to ignore it
Never where it ended an application. SLF4J has a line that looks alike (no binding found), which is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NO_MAIN_CLASS: Final = "emr_no_main_class"


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, NO_MAIN_CLASS)
    for row in rows[:1]:
        name = row.fields.get("name", "of the application").replace("/", ".")
        sparks = name.startswith("org.apache.spark.")
        yield told(
            f"The class to start, {name}, was not found",
            "Spark's own libraries did not reach the container: spark.yarn.jars or spark.yarn.archive name something "
            "that is not there, or an archive whose jars do not lie at its top."
            if sparks
            else "It is the main class of the submitted application: the name given with --class is not in the jar "
            "that was given, or the jar could not be read.",
            rows,
            _of_spark() if sparks else _of_program(row.fields.get("name", "com.example.Main").replace("/", ".")),
            consequence="ended",
            confidence=0.9,
        )


def _of_spark() -> tuple[Advice, ...]:
    return (
        Advice("check", "spark.yarn.jars wants a pattern of jars (hdfs:///spark/jars/*.jar), not the directory alone."),
        Advice("check", "spark.yarn.archive wants an archive with the jars at its top, readable by the application."),
    )


def _of_program(name: str) -> tuple[Advice, ...]:
    path = name.replace(".", "/")
    return (
        Advice("check", f"`jar tf app.jar | grep {path.rpartition('/')[2]}`: the jar must hold {path}.class."),
        Advice("code", "Give --class the full name with its package, and the jar that was built with it (shaded)."),
        Advice(
            "check", "Read the lines before: a jar on S3 or HDFS that could not be fetched is skipped with a warning."
        ),
    )


RULE = Rule(
    code="L11",
    name="main-class-not-found",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            NO_MAIN_CLASS,
            r"(?:Failed to load (?:main )?class"
            r"|Could not find or load main class) (?P<name>[A-Za-z_][\w.$/]*\w)\.?\s*$",
            ("Failed to load class ", "Failed to load main class ", "Could not find or load main class "),
            ((r"main class", r"not found|could not find|failed to load|cannot find"),),
        ),
    ),
)
