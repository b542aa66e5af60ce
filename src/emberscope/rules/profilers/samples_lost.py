"""The profiler lost samples or cut stacks because its buffers were too small.

## What it means
Each profiler keeps stacks and samples in memory of a fixed size. When they are full it drops what comes: async-profiler
shows frames such as `[frame_buffer_overflow]` or `[storage_overflow]`, perf says "lost chunks", Flight Recorder writes
an event `jdk.DataLoss`. Spark's stacks are deep, with code of its own below the user's, so a depth limit (64 in Flight
Recorder) cuts the root side off.

## What it costs
Trust in the picture: what is lost is not spread evenly, it is the busiest moments.

## What to do
Give the profiler room: async-profiler 2.10 and later manage their own buffers (before, `framebuf=`), `jstackdepth=` for
depth; `-XX:FlightRecorderOptions:stackdepth=512,memorysize=50m` for Flight Recorder; a lower rate or a larger `-m` for
perf.

## When to ignore it
When a few samples of many thousand are concerned: shares of a percent and more are still right then.
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
    """Our proposal: deep enough for Spark's stacks, which reach some hundred frames."""

    stack_depth: int = 512  # frames to keep (proposal)


_LOST: Final = Signature(
    "samples_lost",
    r"frame_buffer_overflow|\[storage_overflow\]|calltracestorage_overflow"
    r"|Processed \d+ events and lost (?P<lost>\d+) chunks"
    r"|Frame buffer (?:is )?(?:size|overflow|too)|Check IO/CPU overload|jdk\.DataLoss\b",
    ("frame_buffer_overflow", "storage_overflow", "events and lost", "Frame buffer", "IO/CPU overload", "jdk.DataLoss"),
)
_DEPTH: Final = Signature(
    "stacks_cut",
    r"(?!)",
    (),
    (
        (
            r"\bjfr\b|flight recorder|async-?profiler",
            r"stack",
            r"truncated|cut|too (?:short|shallow)|64 frames|depth|missing roots?",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    lost, cut = seen(run, _LOST.name), seen(run, _DEPTH.name)
    rows = lost or cut
    if not rows:
        return
    count = sum(int(row.fields["lost"]) for row in lost if "lost" in row.fields)
    title = (
        f"The profiler lost {f'{count:,} chunks of ' if count else ''}samples"
        if lost
        else "Stacks are cut at a depth limit"
    )
    depth = limits.stack_depth
    yield trouble(
        title,
        "The profiler's buffers were full, so samples were dropped, mostly in the busiest moments."
        if lost
        else "Flight Recorder keeps 64 frames of a stack by default, and Spark's are deeper: the root side is cut off, "
        "and one method then stands at the bottom under many different callers.",
        rows,
        (
            Advice(
                "code",
                f"JFR: -XX:FlightRecorderOptions:stackdepth={depth},memorysize=50m; async-profiler: "
                f"jstackdepth={depth}, and "
                "a version from 2.10 on (before: framebuf=).",
            ),
            Advice("code", "Sample less often (interval=20ms, perf -F 49), or give perf larger buffers (-m 16M)."),
        ),
    )


RULE = Rule(
    code="P19",
    name="samples-lost",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_LOST, _DEPTH),
)
