"""The profiler ran out of file descriptors: perf events need one for each thread.

## What it means
Sampling by perf events opens a file descriptor for every thread of the process. Where the soft limit of open files
(`ulimit -n`) of the profiled JVM is reached, further threads are not sampled, and the JVM itself may fail to open files
and connections while the profiler runs.

## What it costs
Trust in the picture, because threads are missing; and at worst the job, whose own files and sockets come out of the
same limit.

## What to do
Raise `ulimit -n` for the user that runs the JVM, before it starts, to a few thousand more than its threads and files,
or use `event=ctimer`, which needs no descriptors.

## When to ignore it
Never: a job whose JVM is at its limit of descriptors may fail at its next shuffle.
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
    """Our proposal: what Spark with many connections, shuffle files and threads stays below."""

    open_files: int = 65_536  # soft limit to set (proposal)


_NO_DESCRIPTOR: Final = Signature(
    "perf_descriptors_refused",
    r"Perf events resource limit|perf_event_open for TID \d+ failed: Too many open files",
    ("Perf events resource limit", "failed: Too many open files"),
    ((r"\bperf\b|profiler", "too many open files|file descriptors|ulimit -n"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NO_DESCRIPTOR.name)
    if not rows:
        return
    yield trouble(
        "The profiler ran out of file descriptors",
        "Perf events take one file descriptor for each thread of the JVM. At the limit of open files (ulimit -n) "
        "further threads are not sampled, and the JVM's own files and sockets may fail too.",
        rows,
        (
            Advice(
                "cluster",
                f"Raise the limit of open files for the user of the JVM before it starts: `ulimit -n "
                f"{limits.open_files}` (nofile in limits.conf, LimitNOFILE of the service).",
            ),
            Advice("check", "Or use event=ctimer, which opens no descriptors for threads."),
        ),
    )


RULE = Rule(
    code="P3",
    name="profiler-open-files",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_DESCRIPTOR,),
)
