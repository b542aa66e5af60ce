"""The machine has no hardware counters for the profiler: most virtual machines hide them.

## What it means
`cycles`, `cache-misses` and their like are counted by the processor. Virtual machines and many cloud instances do not
pass its counters on, and then perf says "not supported" and async-profiler cannot start with such an event. Events that
the kernel counts by its own clock (`cpu-clock`, `task-clock`) work everywhere.

## What it costs
The recording, until another event is chosen; the job goes on as if nobody had tried to profile it.

## What to do
Record `cpu-clock` in place of `cycles`: `perf record -e cpu-clock -F 99`, `event=ctimer` or `event=cpu-clock` in
async-profiler. Where the counters themselves are the question (cache misses, instructions per cycle), use a machine
that has them: bare metal, or an instance type whose hypervisor passes them on.

## When to ignore it
When the event was one of several and the others were recorded: they are whole, and only this counter is missing.
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


_NO_COUNTERS: Final = Signature(
    "hardware_events_missing",
    r"<not supported>[ \t]+(?P<counted>[\w:-]+)|The (?P<event>[\w:-]+) event is not supported"
    r"|syscall returned with \d+ \((?:No such file or directory"
    r"|Operation not supported)\) for event \((?P<called>[^)\n]+)\)"
    r"|No hardware sampling interrupt available|PMU Hardware doesn't support sampling",
    (
        "<not supported>",
        "event is not supported",
        "syscall returned with",
        "No hardware sampling interrupt",
        "PMU Hardware doesn't",
    ),
    (
        (
            r"\bperf\b|async-?profiler",
            r"\bcycles\b|cache-?misses|instructions|hardware (?:events?|counters?)|\bpmu\b",
            r"not supported|unavailable|missing|virtual machine|\bvm\b|cloud",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NO_COUNTERS.name)
    if not rows:
        return
    fields = next((row.fields for row in rows if row.fields), {})
    event = next(iter(fields.values()), None)
    yield trouble(
        f"This machine has no hardware counter for {event}" if event else "This machine has no hardware counters",
        "Virtual machines and many cloud instances do not pass the processor's counters on, so hardware events "
        "(cycles, cache-misses) are not supported there. The kernel's own clocks work everywhere.",
        rows,
        (
            Advice("code", "Record cpu-clock: `perf record -e cpu-clock -F 99`, or event=ctimer in async-profiler."),
            Advice("cluster", "For the counters themselves use bare metal, or an instance type that passes them on."),
        ),
    )


RULE = Rule(
    code="P23",
    name="hardware-events",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_COUNTERS,),
)
