"""Several JVMs write their profile into one file, because its name is the same for all of them.

## What it means
Options in `spark.executor.extraJavaOptions` are the same for every executor. A fixed name (`file=/data/profile.jfr`,
`filename=/data/app.jfr`) makes all executors of a host, or all of the cluster on a shared mount, write into the same
file: they overwrite parts of each other, and what is left can hardly be read. It also happens where the library is
loaded into more processes than meant, as with `LD_PRELOAD` or `JAVA_TOOL_OPTIONS`, which programs that the JVM starts
inherit.

## What it costs
The recordings: at best the one that ended last is left, at worst none can be read.

## What to do
Give each process a file of its own: `%p` in the name is the process id (async-profiler and JFR know it; async-profiler
also `%t` for the time), and `{{EXECUTOR_ID}}` and `{{APP_ID}}` in the options are replaced by Spark. On a shared mount
use both, because process ids are the same in different containers.

## When to ignore it
With one executor on each host, and a path that no other host sees; but executors that Spark starts anew on the same
host still overwrite the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_OPTIONS: Final = ("spark.executor.extraJavaOptions", "spark.executor.defaultJavaOptions")
_FILE: Final = re.compile(
    r"(?:-agentpath:\S*asyncProfiler\S*?[=,]file=|-javaagent:\S*profiler\S*?[=,](?:file|outputFile)="
    r"|-XX:StartFlightRecording[:=]\S*?filename=)(?P<file>[^,\s\"']+)",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"%[pt]|\{\{EXECUTOR_ID\}\}|\$\{?\w+")


class Limits(Struct, frozen=True):
    """None: a name that is the same everywhere is enough."""


_SHARED: Final = Signature(
    "profile_overwritten",
    r"overwrote bytes at|(?:jfr|recording)\b[^\n]{0,80}\boverwr(?:itten|ote)",
    ("overwrote", "overwritten"),
    (
        (
            r"profiler|profiling|\bjfr\b|\brecordings?\b",
            r"\b(?:two|several|both|multiple|all|every|each)\b",
            r"same (?:output )?(?:file|path|name)",
        ),
        (r"profiler|profiling|\bjfr\b|\brecordings?\b", r"overwr|corrupt", r"executors|processes|jvms|pods"),
    ),
)
_OPTION: Final = Signature(
    "executor_profile_option",
    r"spark\.executor\.(?:extra|default)JavaOptions[=\s][^\n]*?"
    r"(?:-agentpath:[^\s\"']*asyncProfiler[^\s\"']*?file=|-XX:StartFlightRecording[:=][^\s\"']*?filename=)"
    r"(?P<file>[^,\s\"']+)",
    ("asyncProfiler", "StartFlightRecording"),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    overwritten = seen(run, _SHARED.name)
    options = [row for row in seen(run, _OPTION.name) if not _OWN.search(row.fields.get("file", "%p"))]
    files = dict(_fixed(run))
    if not overwritten and not options and not files:
        return
    file = next((row.fields["file"] for row in options), next(iter(files.values()), None))
    where = f" ({file})" if file else ""
    yield trouble(
        f"All executors write their profile into one file{where}",
        "The name of the output file is the same for several JVMs. On one host or a shared mount they overwrite each "
        "other, and a JVM that is killed before it stops the profiler leaves it unfinished: the file is then corrupt "
        "or truncated, and readers refuse it.",
        (*overwritten, *options),
        (
            Advice(
                "code",
                f"Give each process a file of its own: `{_own_name(file)}`: Spark replaces {{{{EXECUTOR_ID}}}}, and %p "
                "becomes the process id. Where another program loads the library too (LD_PRELOAD, JAVA_TOOL_OPTIONS), "
                "load it into the JVM alone with -agentpath.",
            ),
            Advice("code", "Write chunks or files every 30 s (chunktime=30s, loop=30s), so that a kill costs little."),
        ),
        consequence="blind" if overwritten or options else "risk",
        evidence=[Evidence(f"{key} has the file {name}", f"conf {key}") for key, name in files.items()],
    )


def _fixed(run: Run) -> Iterator[tuple[str, str]]:
    """Settings with a file name that is the same for all executors."""
    for key in _OPTIONS:
        match = _FILE.search(run.setting(key) or "")
        if match and not _OWN.search(match["file"]):
            yield key, match["file"]


def _own_name(file: str | None) -> str:
    stem, dot, ending = (file or "/data/profile.jfr").rpartition(".")
    return f"file={stem or ending}-{{{{EXECUTOR_ID}}}}-%p{dot}{ending if stem else ''}"


RULE = Rule(
    code="P5",
    name="shared-profile",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_SHARED, _OPTION),
)
