"""A JVM crashed: not an exception, but the process itself, by a signal.

## What it means
The JVM was ended by a signal that its own code cannot catch (SIGSEGV: memory that is not there; SIGBUS: memory behind
which there is no file or disk any more; SIGILL: an instruction that this processor does not have), or by a check of its
own. It then writes a report (`hs_err_pid….log`, in the working directory of the process) and ends with exit code 134.
The problematic frame says whose code it was in: `C` is a native library, `V` the JVM itself, `J` compiled Java code.

## What it costs
An executor with its tasks, its cached data and its shuffle files; of the driver, the application. It comes again
whenever the same code meets the same data: four times for one task, and the job fails.

## What to do
`C`: update the library that the frame is in, or do without it: most have a substitute in pure Java or another codec.
`V` in a compiler thread: update the JDK; until then leave the method to the interpreter that the report names as
compiled. `J` in Spark's own Unsafe: memory off the heap is used wrongly, as a rule by a library or a version that does
not fit this Spark. SIGBUS: look for a full disk (also /tmp and /dev/shm), or a file that was cut while it was mapped.
Keep the report: in a container it goes with the container, unless `-XX:ErrorFile` names a place that stays.

## When to ignore it
Never where it comes again. A single crash on one machine of many may be that machine's memory: look at its own logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.hs_err import CRASH, Crash, NativeFrame, crash_of
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.failures.libraries import Library, library_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NO_PRICE: Final = "A crash says that work was lost, not how much: an event log of the same run does."
_OF_PROFILERS: Final = "profiler_crash"
"""The signature of the rule about these."""
_PASSED_THROUGH: Final = re.compile(
    r"libc[.\-]|libpthread|libstdc\+\+|libm[.\-]|ld-|libgcc|libjvm|linux-vdso|\[vdso\]|libsystem"
)
_COMPILER: Final = re.compile(r"C[12] CompilerThread")


class Limits(Struct, frozen=True):
    """One crash is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    told = {row.event_id for row in said(run, _OF_PROFILERS)}
    rows = [row for row in said(run, CRASH.name) if row.event_id not in told]
    groups: dict[tuple[str, str | None], list[Said]] = {}
    for row in rows:
        frame = _culprit(crash_of(row.text))
        groups.setdefault((_signal(row), (frame.library or frame.function) if frame else None), []).append(row)
    for same in groups.values():
        yield _finding(same)


def _finding(rows: list[Said]) -> Finding:
    row = rows[0]
    signal, crash = _signal(row), crash_of(row.text)
    frame = _culprit(crash)
    library = library_of(frame.library) if frame else None
    where = _place(crash, frame, library)
    return Finding(
        title=f"{_who(rows, crash)} crashed{where}: {signal}",
        summary=f"{_mechanism(signal, crash, frame, library)} The process ended itself with exit code 134 (SIGABRT) "
        "and wrote hs_err_pid….log; no Java exception is thrown, so that no code of the job can catch it.",
        where=Where(executor=_executor(rows), host=row.host),
        evidence=tuple(_evidence(rows, crash)),
        advice=tuple(_advice(signal, crash, frame, library)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=NO_PRICE,
        confidence=0.9 if frame else 0.7,
        consequence="ended" if any(one.role != "executor" for one in rows) or len(rows) > 3 else "lost",
    )


def _signal(row: Said) -> str:
    found = row.fields.get("what")
    if found:
        return found
    told = re.search(r"SIG[A-Z]{2,6}|Internal Error|segmentation fault|segfault", row.text, re.IGNORECASE)
    return (
        {"segmentation fault": "SIGSEGV", "segfault": "SIGSEGV"}.get(told[0].lower(), told[0]) if told else "a signal"
    )


def _culprit(crash: Crash) -> NativeFrame | None:
    """The frame to blame: of libraries that everybody calls (libc), the one that called them."""
    frame = crash.frame
    if frame is None or frame.kind != "C" or not frame.library or not _PASSED_THROUGH.match(frame.library):
        return frame
    callers = (one for one in crash.stack if one.kind == "C" and one.library and not _PASSED_THROUGH.match(one.library))
    return next(callers, frame)


def _who(rows: list[Said], crash: Crash) -> str:
    ids = sorted({row.executor_id for row in rows if row.executor_id and row.executor_id != "driver"})
    if ids:
        return f"The JVM of executor{'' if len(ids) == 1 else 's'} {', '.join(ids[:4])}"
    if any(row.role == "driver" for row in rows):
        return "The driver's JVM"
    return f"A JVM (pid {crash.pid})" if crash.pid else "A JVM"


def _executor(rows: list[Said]) -> str | None:
    ids = {row.executor_id for row in rows if row.executor_id}
    return next(iter(ids)) if len(ids) == 1 else None


def _place(crash: Crash, frame: NativeFrame | None, library: Library | None) -> str:
    if frame is None:
        return ""
    if library is not None:
        return f" in {frame.library} ({library.name})"
    if frame.kind == "C":
        return f" in native code, {frame.library}"
    if frame.kind == "V":
        return " in its own compiler" if crash.thread and _COMPILER.match(crash.thread) else " in the JVM's own code"
    return f" in {frame.function}"


def _mechanism(signal: str, crash: Crash, frame: NativeFrame | None, library: Library | None) -> str:
    if signal == "SIGBUS":
        return (
            "SIGBUS: memory that is mapped from a file had no file behind it any more: the disk (or /tmp, /dev/shm) "
            "was full, the file was cut while it was read, or the disk failed."
        )
    if signal == "SIGILL":
        return "SIGILL: a native library was built for a newer processor than this machine has."
    if frame is None:
        return (
            f"{signal} ended the JVM: native code, or the JVM itself. The problematic frame in its report says whose."
        )
    if library is not None:
        return f"{signal} in native code of {library.name}, {library.what}, outside the JVM."
    if frame.kind == "C":
        return f"{signal} in native code, outside the JVM: the library {frame.library} is to blame, or what called it."
    if frame.kind in "VA" and crash.thread and _COMPILER.match(crash.thread):
        return f"{signal} in the JIT compiler while it compiled a method ({crash.thread}): a fault of this JDK."
    if frame.kind in "VA":
        return f"{signal} in the JVM's own code: a fault of this JDK, or memory that native code had spoilt before."
    if "unsafe" in (frame.function or "").lower():
        return (
            f"{signal} in Spark's access to memory past the JVM's checks (Unsafe): it was freed already, or a row was "
            "read by another layout than it was written with."
        )
    return f"{signal} in compiled Java code: a fault of this JDK's compiler, or of memory off the heap."


def _evidence(rows: list[Said], crash: Crash) -> Iterator[Evidence]:
    for row in rows[:3]:
        yield row.evidence()
    row = rows[0]
    where = row.file or "log"
    if crash.frame is not None and (found := re.search(r"Problematic frame:[\s#│|]*([^\n]+)", row.text)):
        yield Evidence(f"problematic frame: {found[1].strip(' │|')[:200]}", where)
    if crash.thread:
        yield Evidence(f"in thread “{crash.thread}”", where)
    if crash.java:
        yield Evidence(f"Java {crash.java}", where)
    if crash.heap_max_bytes and crash.machine_bytes:
        limit = f", container limit {format_bytes(crash.container_limit_bytes)}" if crash.container_limit_bytes else ""
        held = f", {format_bytes(crash.resident_bytes)} resident" if crash.resident_bytes else ""
        yield Evidence(
            f"heap up to {format_bytes(crash.heap_max_bytes)} on a machine of {format_bytes(crash.machine_bytes)}"
            f"{limit}{held}",
            where,
            crash.heap_max_bytes,
            "bytes",
        )


def _advice(signal: str, crash: Crash, frame: NativeFrame | None, library: Library | None) -> Iterator[Advice]:
    if signal == "SIGBUS":
        yield Advice(
            "check",
            "Look at `df -h` of the local directories, /tmp and /dev/shm on that node, and at dmesg for disk errors.",
        )
    elif library is not None:
        yield from (set_conf(key, value, text) for key, value, text in library.settings)
        yield Advice("code", f"Update {library.name} to its newest version that fits this Spark, {library.instead}")
    elif frame is not None and frame.kind == "C":
        yield Advice(
            "code", f"Find what brings {frame.library} (jar or package), update it, or do without it once to prove it."
        )
    elif frame is not None:
        yield Advice(
            "cluster",
            "Take the newest update of this JDK's line: faults of the compiler and collector are mended there.",
        )
        yield Advice(
            "check",
            "Run once with -XX:TieredStopAtLevel=1 in spark.executor.extraJavaOptions: where it holds, the C2 compiler "
            "is the fault, and -XX:CompileCommand=exclude,CLASS::METHOD leaves out the one method.",
        )
    yield Advice(
        "check",
        "Keep the whole report: -XX:ErrorFile=/path/that/stays/hs_err_%p.log, and `ulimit -c unlimited` for a core "
        "dump; if all crashes are of one host, test that machine's memory.",
    )


RULE = Rule(
    code="K80",
    name="jvm-crash",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(CRASH,),
)
