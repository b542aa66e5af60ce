"""A flame graph shows frames without names: unknown_Java, no_Java_frame, [unknown].

## What it means
At some places the stack of Java cannot be walked (in stubs, prologues, while code is recompiled), and native threads
(collector, compiler, idle ones) have no frame of Java at all.

## What it costs
The share of samples without a name: what they are of cannot be told, and other frames look larger than they are.

## What to do
A current async-profiler walks the stack by itself; debug information and frame pointers name native code.

## When to ignore it
Below a few percent of the samples; and no_Java_frame of collector and compiler threads, which have none to show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_UNKNOWN_FRAMES: Final = Signature(
    name="told-unknown-frames",
    pattern=r"(?P<said>\b(?:unknown_Java|no_Java_frame|not_walkable_Java)\b)",
    literals=("unknown_Java", "no_Java_frame", "not_walkable_Java"),
    words=(
        (r"unknown_java|no_java_frame|not_walkable|unknown java frames?",),
        (
            r"flame ?graphs?|async-?profiler",
            r"\[?unknown\]?|(missing|incomplete|broken|truncated|no|n't|without)\b.{0,40}"
            r"\b(frames?|stacks?|symbols?|java|methods?|data)|anonymous|\bgaps?\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_UNKNOWN_FRAMES.name)
    if not rows:
        return
    yield answer(
        rows,
        title="Frames without names: the Java stack could not be walked there, or the thread is native",
        summary="unknown_Java marks samples where the JVM could not walk the stack; no_Java_frame is of "
        "native threads (GC, compiler). "
        "Newer async-profiler walks it by itself.",
        advice=(
            Advice("check", "Update async-profiler to 4.x, and use cstack=vm (cstack=vmx for native frames too)."),
            Advice(
                "cluster",
                "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints from the start of the JVM, debug symbols "
                "of the JDK for native frames, and -XX:+PreserveFramePointer for perf.",
            ),
        ),
        confirm="`emberscope summary RECORDING` tells the share of samples without a name, by thread.",
    )


RULE = Rule(
    code="W22",
    name="told-unknown-frames",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_UNKNOWN_FRAMES,),
)
