"""The profiler cannot trace allocations, because the JVM's debug symbols are not there.

## What it means
On JDK 8 and early JDK 11 async-profiler finds the JVM's allocation functions by their symbols, which many distributions
ship apart. Without them the event `alloc` fails ("No AllocTracer symbols found"). Later JDKs have an interface for it
(JEP 331).

## What it costs
The allocation profile, as long as the symbols are missing; profiles of CPU time are not concerned.

## What to do
Install the debug symbols of this very JDK (`openjdk-8-dbg`, `java-1.8.0-openjdk-debuginfo`), or run on JDK 11 and later
with async-profiler 2.0 and later, or use Flight Recorder's allocation events.

## When to ignore it
When CPU time is what is looked for, or garbage collection takes no noticeable part of the time.
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


_NO_SYMBOLS: Final = Signature(
    "allocation_symbols_missing",
    r"No AllocTracer symbols found|VMStructs unavailable\. Unsupported JVM",
    ("No AllocTracer symbols", "VMStructs unavailable"),
    ((r"async-?profiler|alloc(?:ation)? profil", r"alloctracer|debug ?symbols|debuginfo|-dbg\b"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NO_SYMBOLS.name)
    if not rows:
        return
    yield trouble(
        "Allocations cannot be traced: the JVM's debug symbols are missing",
        "On JDK 8 and early JDK 11 async-profiler finds the JVM's allocation functions by debug symbols, which most "
        "distributions ship apart. The event alloc fails without them; cpu and wall work.",
        rows,
        (
            Advice("cluster", "Install the debug symbols (debuginfo, -dbg) of exactly this JDK on every machine."),
            Advice("cluster", "Or run on JDK 11 and later with async-profiler 2.0 and later, which need none."),
        ),
    )


RULE = Rule(
    code="P21",
    name="allocation-symbols",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_SYMBOLS,),
)
