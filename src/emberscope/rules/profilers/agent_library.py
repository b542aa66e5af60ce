"""A profiler's agent cannot be loaded, so that the JVM does not start or goes on without it.

## What it means
`-agentpath` and `-javaagent` name a file that must be on the machine of each JVM, readable, for its processor and for
its C library: a library that was built with glibc does not load in Alpine's musl, nor one for x64 on arm64. A JVM that
cannot load an agent named on its command line ends at once with exit code 1. With executors that repeats until Spark
gives up ("Max number of executor failures").

## What it costs
The executors or the driver, and with them the job: none of them starts as long as the option is there.

## What to do
Put the file where every JVM sees it under the very same path: into the image, or with `--files`/`--jars`, which land in
the working directory of executors (then without a folder before the name). For the driver in client mode the path is on
the machine that submits. Try it on that machine: `java -agentpath:PATH=start,flat -version`. Take the option out where
the profile can wait.

## When to ignore it
When the profiler was attached to a running JVM (`Target JVM failed to load`): that JVM goes on.
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


_NOT_LOADED: Final = Signature(
    "agent_not_loaded",
    r"Could not find agent library (?P<library>\S+)(?:[^\n]*?with error: (?P<why>[^\n]+))?"
    r"|Error opening zip file or JAR manifest missing\s*:\s*(?P<jar>\S+)"
    r"|agent library failed to init: \w+|Failed to find Agent-Class manifest attribute"
    r"|Failed to find Premain-Class manifest attribute in (?P<manifest>\S+)",
    ("Could not find agent library", "JAR manifest missing", "agent library failed", "-Class manifest attribute"),
)
_NOT_INJECTED: Final = Signature(
    "profiler_not_injected",
    r"Target JVM failed to load (?P<library>\S+)|Failed to inject profiler into (?P<pid>\d+)",
    ("Target JVM failed to load", "Failed to inject profiler"),
    (
        (
            r"async-?profiler|-agentpath|java ?agent",
            r"cannot (?:be )?load|failed to load|not found",
            r"musl|alpine|glibc|container|arm64|aarch64",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    started, attached = seen(run, _NOT_LOADED.name), seen(run, _NOT_INJECTED.name)
    rows = started or attached
    if not rows:
        return
    fields = [row.fields for row in rows]
    name = next((f[key] for f in fields for key in ("library", "jar", "manifest") if key in f), "the agent")
    name = name.rstrip(":,")
    why = next((f["why"] for f in fields if "why" in f), "")
    foreign = any(word in why for word in ("GLIBC", "libstdc++", "libgcc", "musl", "ELF", "wrong"))
    ends = "so the JVM did not start" if started else "so it is not profiled"
    advice = [
        Advice(
            "cluster",
            f"Put {name} where every JVM sees it by this very path: into the image, or send it with --files or --jars, "
            "which land in the working directory of executors, and name it there without a folder.",
        ),
        Advice(
            "check", f"Try it on a machine or in a container of the job: `java -agentpath:{name}=start,flat -version`."
        ),
    ]
    if foreign:
        reason = (
            "Take the build of the profiler for this C library and processor (musl or glibc, x64 or arm64), and add "
        )
        advice.insert(0, Advice("cluster", f"{reason}the libraries that it misses to the image: {why[:120]}"))
    yield trouble(
        f"The JVM cannot load {name}, {ends}",
        "A JVM ends at once where an agent of its command line (-agentpath, -javaagent) is missing, unreadable, or "
        "built for another C library or processor. With executors this repeats until Spark gives up."
        if started
        else "The running JVM cannot load the profiler's library: it must be readable for the user of the JVM, by the "
        "same path in its container, and built for its C library and processor. The JVM goes on without it.",
        rows,
        advice,
        consequence="lost" if started else "blind",
    )


RULE = Rule(
    code="P7",
    name="agent-library",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NOT_LOADED, _NOT_INJECTED),
)
