"""The profiler cannot map its buffers: the limit of locked memory is too small for so many threads.

## What it means
Each thread that is sampled by perf events has a ring buffer of two pages (8 KiB) in locked memory. An unprivileged user
may lock `kernel.perf_event_mlock_kb` for each CPU, and beyond that what `ulimit -l` (RLIMIT_MEMLOCK) grants. A JVM of
Spark has hundreds of threads; those beyond the limit are sampled without a buffer, so without kernel and native frames.

## What it costs
Trust in the picture: some threads, the youngest ones, have shorter stacks than others, and nothing in the profile says
which.

## What to do
Raise the limit of the process that is profiled, not of your shell: `ulimit -l unlimited` before it starts, or
`sysctl kernel.perf_event_mlock_kb` to at least 8 KiB times its threads plus what the node needs. In a container set the
limit `memlock`. `event=ctimer` needs no such buffers.

## When to ignore it
When frames of Java are all that is looked for: these are complete, with or without a buffer of the kernel's.
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
    """What async-profiler maps for each thread, and how many threads a JVM of Spark may have (measured: 210 in an
    executor with 8 cores)."""

    thread_kib: int = 8  # buffer of one thread (async-profiler)
    threads: int = 1_000  # to be on the safe side (proposal)


_NO_BUFFER: Final = Signature(
    "perf_buffer_refused",
    r"perf_event mmap failed: (?P<why>[^\n]+)|Permission error mapping pages|failed to mmap with \d+"
    r"|Consider increasing\s+\"?/proc/sys/kernel/perf_event_mlock_kb",
    ("perf_event mmap failed", "error mapping pages", "failed to mmap with", "perf_event_mlock_kb"),
    ((r"\bperf\b|profiler", "mlock|memlock|locked memory", "limit|fail|too (?:low|small)|not permitted"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NO_BUFFER.name)
    if not rows:
        return
    count = sum(row.count for row in rows)
    threads = f"{count:,} threads at least" if count > 1 else "Some threads"
    need = limits.thread_kib * limits.threads
    yield trouble(
        f"{threads} are sampled without a perf buffer: the limit of locked memory is reached",
        f"Each sampled thread needs a perf buffer of {limits.thread_kib} KiB in locked memory; beyond "
        "kernel.perf_event_mlock_kb per CPU and `ulimit -l` (RLIMIT_MEMLOCK) the kernel refuses it. These threads are "
        "then recorded without native and kernel frames.",
        rows,
        (
            Advice(
                "cluster",
                f"Raise the limit for the user of the JVM before it starts: `ulimit -l unlimited` (container: ulimit "
                f"memlock), or `sysctl kernel.perf_event_mlock_kb={need + 516}`: {limits.thread_kib} KiB × "
                f"{limits.threads:,} threads on top of the default of 516.",
            ),
            Advice("check", "Or use event=ctimer, which maps no buffer for each thread."),
        ),
    )


RULE = Rule(
    code="P2",
    name="locked-memory",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_BUFFER,),
)
