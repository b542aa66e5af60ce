"""perf shows `Interpreter` in place of methods: interpreted Java code has no symbols.

## What it means
The symbol map that perf reads names compiled code. A method that the JVM interprets runs in one piece of generated
code, which perf can only call `Interpreter`, one frame after the other without a name. That is what every method is
until it has been called a few thousand times, so short recordings at the start of a process are mostly this.

## What it costs
The names of these methods: the flame graph ends where the interpreter begins, however deep the stack goes on.

## What to do
Record later, when the code that matters is compiled, or for longer; or use a profiler that asks the JVM for the stack
(async-profiler, Flight Recorder), which names interpreted methods as any other.

## When to ignore it
When the share of these samples is small, as it is in a process that has run for minutes.
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
    """None: one such stack is enough."""


_INTERPRETER: Final = Signature(
    "perf_interpreter",
    r"^[ \t]*(?P<share>\d+\.\d+)%[^\n]*perf-\d+\.map\s+\[\.\] Interpreter|\bInterpreter \(\S*perf-\d+\.map\)"
    r"|^[ \t|-]*Interpreter[ \t]*\n[ \t|]*Interpreter",
    ("] Interpreter", "Interpreter (", "- Interpreter", "  Interpreter"),
    ((r"\bperf\b|flame ?graph", r"\binterpreter\b|interpreted", r"frames?|methods?|stacks?|names?|symbols?"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _INTERPRETER.name)
    if not rows:
        return
    share = next((row.fields["share"] for row in rows if "share" in row.fields), None)
    yield trouble(
        f"Interpreted Java code has no names in perf{f': {share} % of the samples' if share else ''}",
        "perf's map names only methods that the JIT has compiled; a method that is still interpreted is just "
        "“Interpreter”. Code is compiled after some thousand calls, so this is a recording of a young process or of "
        "rare code.",
        rows,
        (
            Advice("check", "Record after a warm-up, or for longer, and write the map at the end."),
            Advice("check", "Or use async-profiler or JFR: they ask the JVM and name interpreted methods too."),
        ),
    )


RULE = Rule(
    code="P13",
    name="interpreted-frames",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_INTERPRETER,),
)
