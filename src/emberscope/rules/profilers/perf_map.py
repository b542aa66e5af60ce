"""perf has no names for compiled Java code: its symbol map is missing, stale, or not trusted.

## What it means
perf names code that a JVM compiled by a text file `/tmp/perf-PID.map` that the JVM or an agent writes. It looks for the
file by the process id of its own name space, in the file system of the process, and takes it only where it belongs to
root or to the user that runs perf. Frames shown as `[perf-PID.map]` or `[unknown]` mean that there was no name for the
address: no map, a map of another process id (container), one with another owner, or one that is older than the code,
because methods were compiled or moved after it was written.

## What it costs
The names: the time of these samples is counted, but nobody can say which method it belongs to.

## What to do
Write the map at the end of the recording, before the JVM ends: `jcmd PID Compiler.perfmap` (JDK 17 and later) or
perf-map-agent. Write it as the JVM's user and give it to root (`chown root`), or run `perf script -f`. In a container
write it inside, and run perf where the process has the same id, or copy the file to `/tmp/perf-HOSTPID.map`.
async-profiler and Flight Recorder need no map.

## When to ignore it
When only a few percent of the samples are without names: code is compiled until the last second, so some always are.
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
    """None: one such frame is enough."""


_NO_NAMES: Final = Signature(
    "perf_map_unresolved",
    r"\[perf-(?P<pid>\d+)\.map\]|\[unknown\] \(\S*/perf-(?P<unknown>\d+)\.map\)"
    r"|File \S*/perf-(?P<owned>\d+)\.map not owned by current user|Failed to open \S*perf-(?P<missing>\d+)\.map",
    (".map]", ".map)", ".map not owned", ".map, continuing"),
    ((r"\bperf\b|flame ?graph", r"java|jit|jvm", r"\[unknown\]|hex|no (?:symbols|names)|unresolved|not resolved"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NO_NAMES.name)
    if not rows:
        return
    pid = next((value for row in rows for value in row.fields.values()), None)
    owned = any("owned" in row.fields for row in rows)
    name = f"perf-{pid}.map" if pid else "perf-PID.map"
    why = (
        f"{name} belongs to another user, so perf ignores it."
        if owned
        else "Addresses of compiled Java code had no entry in the map: it is missing, of another pid namespace "
        "(container), owned by another user, or older than the code, which the JIT compiled or moved later."
    )
    yield trouble(
        f"perf could not resolve compiled Java code by {name}",
        f"perf names JIT-compiled code by a symbol map, /tmp/{name}, which must carry the pid that perf sees and "
        f"belong to root or to perf's user. {why}",
        rows,
        (
            Advice(
                "code",
                "Write the map at the end of the recording and before the JVM ends: `jcmd PID Compiler.perfmap` (JDK "
                "17 and later) or perf-map-agent; then `chown root` it, or read with `perf script -f`.",
            ),
            Advice(
                "check", f"In a container copy it to /tmp/perf-HOSTPID.map of the machine where perf runs; not {name}."
            ),
            Advice("check", "Or use async-profiler or JFR, which name Java methods without a map."),
        ),
    )


RULE = Rule(
    code="P12",
    name="perf-map",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_NAMES,),
)
