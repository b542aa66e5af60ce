"""The kernel does not let the profiler use its performance events, so system calls and kernel code are missing.

## What it means
perf and async-profiler's cpu engine count with `perf_event_open`, which the kernel grants by
`kernel.perf_event_paranoid`, and which the default seccomp profile of containers forbids altogether. Where it is
refused, a profiler either ends, or goes on without the kernel: then frames of the kernel are missing, and with events
of user space alone the samples that fall into a system call are dropped, so that code that sends, reads or waits in the
kernel looks idle.

## What it costs
Trust in the picture: work in system calls (network, disk, page faults) is under-reported by as much as there is of it.

## What to do
Allow kernel events: `sysctl kernel.perf_event_paranoid=1` and `sysctl kernel.kptr_restrict=0` on the node, and for a
container the capability PERFMON (or SYS_ADMIN) and a seccomp profile that lets `perf_event_open` through. Where the
node is not yours, use `event=ctimer` or `event=itimer`: they need no permission and lose no samples, but show no kernel
frames.

## When to ignore it
When only Java code is of interest and the process spends its time there: its frames are named and counted with every
engine.
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


_NO_EVENTS: Final = Signature(
    "perf_events_refused",
    r"Perf events unavailable|perf_event_open for TID \d+ failed: (?P<why>[^\n]+)|perf_event_open failed"
    r"|perf_event_paranoid setting is (?P<level>-?\d+)"
    r"|(?:You may not have permission to collect(?: \w+)? stats"
    r"|Access to performance monitoring and observability operations is limited)"
    r"(?:[\s\S]{0,400}?perf_event_paranoid setting is (?P<now>-?\d+))?",
    (
        "Perf events unavailable",
        "perf_event_open",
        "perf_event_paranoid setting",
        "permission to collect",
        "observability operations",
    ),
    (
        ("perf_event_open|perf events?", "denied|not permitted|unavailable|not allowed|fails|refused|seccomp"),
        (
            r"async-?profiler|\basprof\b|\bprofil(?:er|ing|e)\b",
            r"container|docker|kubernetes|k8s|\bpods?\b|non-?root",
            r"\bperf\b|permission|privilege|seccomp|SYS_ADMIN|capabilit",
        ),
    ),
)
_NO_KERNEL: Final = Signature(
    "kernel_symbols_unavailable",
    r"Kernel symbols are unavailable|Kernel address maps \(/proc/\{?kallsyms|Cannot read kernel map",
    ("Kernel symbols are unavailable", "Kernel address maps", "Cannot read kernel map"),
    (
        (
            "profil|flame",
            r"no (?:time|samples|frames)|missing",
            r"kernel|syscalls?|system calls?|socket (?:send|read|write)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    refused, hidden = seen(run, _NO_EVENTS.name), seen(run, _NO_KERNEL.name)
    rows = (*refused, *(row for row in hidden if row not in refused))
    if not rows:
        return
    level = next((row.fields[key] for row in refused for key in ("level", "now") if key in row.fields), None)
    now = f" (it is {level} here)" if level else ""
    title = (
        "The kernel refuses its performance events to the profiler" if refused else "The profiler sees no kernel code"
    )
    yield trouble(
        title,
        "The kernel gives no performance events or symbols to this process (kernel.perf_event_paranoid, "
        "kernel.kptr_restrict, or a container's seccomp profile). With events of user space alone, samples inside "
        "system calls are dropped: code that sends, reads or waits in the kernel is under-reported or not shown at "
        "all.",
        rows,
        (
            Advice(
                "cluster",
                f"Allow kernel events on the node: `sysctl kernel.perf_event_paranoid=1`{now} and `sysctl "
                "kernel.kptr_restrict=0`; in a container add the capability PERFMON (SYS_ADMIN before Linux 5.8) and a "
                "seccomp profile that lets perf_event_open through.",
            ),
            Advice(
                "check",
                "Or start async-profiler with event=ctimer (or itimer), which needs no permission and drops no "
                "samples; frames of the kernel are then not shown.",
            ),
        ),
    )


RULE = Rule(
    code="P1",
    name="kernel-events",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_EVENTS, _NO_KERNEL),
)
