"""The JVM crashed inside the profiler, or in the walk of a stack that the profiler asked for.

## What it means
A sampling profiler interrupts threads at any point and asks the JVM for their stacks (`AsyncGetCallTrace`). Faults of
some versions of the profiler, or of the JVM in that walk, end the whole process with SIGSEGV. The crash report
(`hs_err_pid…`) names the frame: the profiler's library, or AsyncGetCallTrace and its helpers in libjvm.

## What it costs
The process: an executor with its tasks and shuffle files, or the driver with the application.

## What to do
Take the newest version of the profiler and of this JDK's line. Until then leave out the event that was on when it
crashed (`wall` and `alloc` are more often to blame than `cpu`), profile a small part of the executors, or use Flight
Recorder.

## When to ignore it
Never: it will come again, on some executor, as long as this profiler runs in this version of the JVM.
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
    """None: one crash is enough."""


_CRASH: Final = Signature(
    "profiler_crash",
    r"^#?[ \t]*[CV][ \t]+\[(?P<library>libasyncProfiler[^\]+]*|libjavaProfiler[^\]+]*|libpyroscope[^\]+]*"
    r"|async-profiler[^\]+]*)"
    r"\+0x[0-9a-f]+\](?:[ \t]+(?P<frame>[^\n]+))?"
    r"|^#?[ \t]*V[ \t]+\[libjvm\.so\+0x[0-9a-f]+\]\s+(?P<walk>AsyncGetCallTrace|forte_fill_call_trace[^\n(]*"
    r"|vframeStreamForte[^\n(]*)",
    (
        "libasyncProfiler",
        "libjavaProfiler",
        "libpyroscope",
        "AsyncGetCallTrace",
        "forte_fill_call_trace",
        "vframeStreamForte",
    ),
    ((r"async-?profiler|\bprofiler", r"sigsegv|segfault|segmentation fault|jvm crash|core dump|hs_err"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _CRASH.name)
    if not rows:
        return
    fields = next((row.fields for row in rows if row.fields), {})
    at = (fields.get("frame") or fields.get("walk") or "").strip()
    where = f" in {at[:80]}" if at else ""
    yield trouble(
        f"The JVM crashed in the profiler{where}",
        "The profiler's signal handler or the JVM's walk of a stack for it (AsyncGetCallTrace) ended the process with "
        "SIGSEGV: the job's own code is not to blame. It is a fault of this version of the profiler or of the JDK.",
        rows,
        (
            Advice("code", "Take the newest async-profiler and the newest update of this JDK."),
            Advice(
                "code",
                "Until then leave out wall and alloc, profile a few executors only, or use JFR "
                "(-XX:StartFlightRecording); without a profiler the job does not crash here.",
            ),
        ),
        consequence="lost",
    )


RULE = Rule(
    code="P17",
    name="profiler-crash",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_CRASH,),
)
