"""perf and the tool that writes the symbol map run as different users, so that no flame graph comes of it.

## What it means
Making a flame graph of a JVM with perf takes two rights: perf wants root (or a low `kernel.perf_event_paranoid`), while
attaching to the JVM for the symbol map works only as the JVM's own user and needs its JDK (`JAVA_HOME`). Scripts that
run both as one user fail at one of them, often without a message: perf's data belongs to root and is there, but no
stacks and no picture.

## What it costs
The flame graph. The raw data can still be used, as long as the map of symbols is written before the JVM ends.

## What to do
Let the kernel admit the JVM's user (`sysctl kernel.perf_event_paranoid=-1`, `kernel.kptr_restrict=0`) and run
everything as that user with `JAVA_HOME` set to the JVM's JDK; or run perf as root and write the map as the JVM's user
(`sudo -u USER jcmd PID Compiler.perfmap`). `perf script -f` reads data of another owner.

## When to ignore it
When another profiler is at hand: async-profiler makes the flame graph by itself.
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


_OTHER_USER: Final = Signature(
    "perf_other_user",
    r"[Ff]ile (?=\S*perf)(?=\S*\.data)\S+ not owned by current user or root"
    r"|create-java-perf-map\S*:? [^\n]*(?:not found|[Ee]rror|denied)",
    (".data not owned", "data not owned", "create-java-perf-map"),
    (
        (
            r"perf-java-|perf-map-agent|perf\.data|perf-\d+\.data|\bperf record\b",
            r"\broot\b|sudo|user|permission|owned",
            r"no (?:svg|\.?stacks|output|map|flame ?graph)|without (?:svg|output)|exits|only [^\n]{0,40}\.data|empty",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _OTHER_USER.name)
    if not rows:
        return
    yield trouble(
        "perf and the symbol map's writer run as different users",
        "perf needs root or a low kernel.perf_event_paranoid, while attaching to the JVM for the map works only as the "
        "JVM user and with its JDK. Run by one user alone, one of the two fails: data that belongs to root and no "
        "stacks.",
        rows,
        (
            Advice(
                "cluster",
                "Set kernel.perf_event_paranoid=-1 and kernel.kptr_restrict=0, and run both as the same user, the one "
                "of the JVM, with JAVA_HOME set to its JDK.",
            ),
            Advice(
                "check",
                "Or run perf as root and the map as the JVM user (`sudo -u USER jcmd PID Compiler.perfmap`), then "
                "`perf script -f`.",
            ),
        ),
    )


RULE = Rule(
    code="P15",
    name="perf-users",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_OTHER_USER,),
)
