"""A Java option for profiling is unknown to this JVM, or locked, so that the JVM does not start.

## What it means
A JVM ends at once where an option of its command line is not known to it: Flight Recorder's options before JDK 8u262 or
in a JVM without it, `-XX:+UnlockCommercialFeatures` after JDK 10, a diagnostic option such as `DebugNonSafepoints`
without `-XX:+UnlockDiagnosticVMOptions` before it. In `spark.executor.extraJavaOptions` that ends every executor at its
start.

## What it costs
The driver or every executor, and with them the job ("Max number of executor failures").

## What to do
Take the option out, or name it as this JDK knows it, with the option that unlocks it before it.
`-XX:+IgnoreUnrecognizedVMOptions` makes unknown ones harmless. Try it: `java OPTIONS -version`, with
the JDK of the executors.

## When to ignore it
Never: a JVM that refuses an option does not run, and so neither does what should have run in it.
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

_NAMES: Final = (
    "StartFlightRecording|FlightRecorder|FlightRecorderOptions|UnlockCommercialFeatures|PreserveFramePointer"
    "|DebugNonSafepoints|EnableDynamicAgentLoading|DumpPerfMapAtExit|StartAttachListener|NativeMemoryTracking"
)


class Limits(Struct, frozen=True):
    """None: one such line is enough."""


_REFUSED: Final = Signature(
    "profiling_option_refused",
    rf"Unrecognized VM option '(?P<unknown>[+-]?(?:{_NAMES})[^']*)'"
    rf"|VM option '(?P<locked>[+-]?(?:{_NAMES})[^']*)' is (?:diagnostic|experimental|commercial|a commercial feature)"
    r"|Flight Recorder (?:is )?not (?:supported|available)|Flight Recorder can not be enabled",
    ("Unrecognized VM option", "VM option '", "Flight Recorder"),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _REFUSED.name)
    if not rows:
        return
    fields = next((row.fields for row in rows if row.fields), {})
    locked, name = fields.get("locked"), fields.get("locked") or fields.get("unknown") or "FlightRecorder"
    unlock = "Put -XX:+UnlockDiagnosticVMOptions (or UnlockExperimentalVMOptions, as the message says) before it"
    yield trouble(
        f"The JVM refuses the option {name} and does not start",
        f"{'It must be unlocked first' if locked else 'This JDK does not know it'}. A JVM ends at once on such an "
        "option, so in the executors' Java options it keeps every executor from starting.",
        rows,
        (
            Advice("code", f"{unlock}." if locked else f"Take -XX:{name} out, or name it as this JDK has it."),
            Advice("check", f"Try it with the JDK of the executors: `java -XX:{name} -version`."),
        ),
        consequence="lost",
    )


RULE = Rule(
    code="P18",
    name="profiling-option",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_REFUSED,),
)
