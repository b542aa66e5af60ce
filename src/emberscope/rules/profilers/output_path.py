"""The profiler cannot write its output: the path is not there, or not writable, for the process that is profiled.

## What it means
The file is opened by the JVM that is profiled, with its user, its working directory and its file system. A path that
exists for the person who started the profiler may not exist in the container of the JVM. Where the file cannot be
opened at the end, the samples stay in the JVM and the session stays open: the next start then says "Profiler already
started". Flight Recorder looks at the path when the JVM starts, and a JVM whose recording cannot be written does not
start at all.

## What it costs
The recording. With Flight Recorder's option for the start of the JVM it costs the JVM, and so the executor or the
application.

## What to do
Make the directory where the JVM runs (in its container) and let its user write there, or name a directory that is
there: the working directory of an executor, a mounted volume. A session that is still open keeps its samples: `asprof
stop -f PATH PID` writes them to a path that works.

## When to ignore it
When a second attempt with another path has written the recording: the message of the first one then stays in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """None: one such line is enough."""


_NO_FILE: Final = Signature(
    "profile_not_written",
    r"Could not open output file|Could not open Flight Recorder output file"
    r"|Failed to open JFR recording at (?P<opened>[^\s:]+)"
    r"|Could not start recording, not able to write to file:? (?P<file>\S+)"
    r"|jdk\.jfr\.internal\.dcmd[^\n]*not able to write",
    ("Could not open output file", "Flight Recorder output file", "Failed to open JFR recording", "not able to write"),
    (
        (
            r"profiler|\bjfr\b|asprof",
            r"no (?:output|file|result)|nothing (?:is )?written|not (?:written|created)",
            r"director|folder|path|permission|container",
        ),
    ),
)
_OPEN: Final = Signature("profiler_already_started", r"Profiler already started", ("Profiler already started",))


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    failed, still_open = seen(run, _NO_FILE.name), seen(run, _OPEN.name)
    if not failed and not still_open:
        return
    name = next((row.fields.get("file") or row.fields.get("opened") for row in failed if row.fields), None)
    advice = [
        Advice(
            "cluster",
            f"Make the directory{f' of {name}' if name else ''} exist and writable in the file system of the JVM: in "
            "its container, for its user. Or name the working directory of the executor or a mounted volume.",
        )
    ]
    if still_open or not any("file" in row.fields for row in failed):
        advice.append(
            Advice(
                "check",
                "A session that is still open (“Profiler already started”) keeps its samples: `asprof stop -f PATH "
                "PID` with a path that the JVM can write ends it.",
            )
        )
    rows = (*failed, *still_open)
    if failed:
        title = f"The profile could not be written{f' to {name}' if name else ''}"
    else:
        title = "A profiling session is open already"
    yield trouble(
        title,
        "The output file is opened by the profiled JVM, with its user and its file system, not by whoever starts the "
        "profiler. Its directory must exist there and be writable; where it is not, nothing is written and the session "
        "stays open.",
        rows,
        advice,
        consequence="lost" if any("file" in row.fields for row in failed) else "blind",
    )


RULE = Rule(
    code="P6",
    name="profile-path",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_FILE, _OPEN),
)
