"""The report that a JVM writes when it crashes (`hs_err_pid….log`): who crashed, where, and what memory there was.

The report is long: registers, the heap region by region, libraries. What tells why is some thirty lines, which are made
one record. The same words stand at the beginning of the report and on the standard output of the process, so that
the signatures here find both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, Final

from msgspec import Struct

from emberscope.logs.record import Record
from emberscope.logs.signature import Signature

FATAL: Final = "A fatal error has been detected by the Java Runtime Environment"
NO_MEMORY: Final = "There is insufficient memory for the Java Runtime Environment to continue"

# In a terminal's box, behind `#` or bare: reports are pasted in every form.
_GAP: Final = r"[\s#│|]*"

CRASH: Final = Signature(
    "jvm_crash",
    r"^[ \t#│|]*(?P<what>SIG[A-Z]+|EXCEPTION_\w+|Internal Error)\s?\((?P<code>0x[0-9a-f]+|[\w.]+:\d+)\)"
    r"(?P<at>(?: at pc=|, pid=)[^\n]*)"
    rf"(?:(?:\n(?!.*Problematic frame)[^\n]*){{0,12}}\n[^\n]*Problematic frame:{_GAP}(?P<frame>[^\n]+))?",
    (
        FATAL,
        "SIGSEGV (0x",
        "SIGBUS (0x",
        "SIGILL (0x",
        "SIGFPE (0x",
        "Internal Error (",
        "EXCEPTION_ACCESS_VIOLATION (0x",
    ),
    (
        (r"\b(?:sigsegv|sigbus|sigill|segmentation fault|segfault)\b", r"\b(?:jvm|java|executor|driver|container)"),
        (r"\bhs_err", r"crash|sig[a-z]+|core dump"),
        (r"\bjvm (?:has )?crash", r"executor|driver|spark|native"),
    ),
)
NATIVE_MEMORY: Final = Signature(
    "jvm_no_native_memory",
    r"(?:Native memory allocation \((?P<call>\w+)\) failed to (?:map|allocate) (?P<bytes>\d+) bytes"
    r"(?: (?:for|of) (?P<purpose>[^\n]+?)\.?$)?"
    r"|os::commit_memory\(0x[0-9a-f]+, (?P<commit>\d+), \d\) failed; error='[^']*' \((?:errno|error=|errno=)=?\w+\))",
    (NO_MEMORY, "os::commit_memory(", "Native memory allocation ("),
    (
        (r"insufficient memory for the java runtime",),
        (r"\bcannot allocate memory\b", r"\bjvm\b|\bjava\b|errno ?= ?12"),
    ),
)

_SECTION: Final = re.compile(rb"^-{9,} +(?:S U M M A R Y|T H R E A D|P R O C E S S|S Y S T E M)", re.M)
_KEPT: Final = re.compile(
    r"#|Host:|Time: |time: |timezone: |elapsed time: |Current thread |siginfo:|[VCAv]  [\[~]|[jJ]  ?\S"
    r"|Command Line: |java_command: |jvm_args: | Heap Max Capacity: |\s*size_t MaxHeapSize |\s*uintx MaxHeapSize "
    r"| (?:garbage-first heap|PSYoungGen|ParOldGen|par new generation|def new generation|tenured generation) "
    r"|MemTotal: |MemAvailable: |Resident Set Size: |Memory: |container_type: |memory_limit_in_bytes: "
    r"|memory_usage_in_bytes: |memory_max_usage_in_bytes: |rlimit"
)
_MOST_KEPT: Final = 110
_STEP: Final = 1 << 16
_MOST_OF_LINE: Final = 400
_MOST_OF_ONE: Final = 30
"""Lines that begin alike: frames, and lines of the head."""
_FRAME: Final = re.compile(r"[VCAvjJ]  ?[\[~\w]")

_TIME: Final = re.compile(
    r"(?i:time): \w{3} (?P<month>\w{3}) +(?P<day>\d+) (?P<clock>[\d:]{8}) (?P<year>\d{4})(?: (?P<zone>\S+))?"
)
_ZONE: Final = re.compile(r"timezone: (\S+)")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def looks_like_hs_err(head: bytes) -> bool:
    """Whether a file is such a report, by its first part: it begins with the words and goes on in sections.

    The words alone are what the process printed, perhaps with more behind them: that is a log.
    """
    start = head[:600].lstrip()
    return start.startswith(b"#") and has_head(start) and _SECTION.search(head) is not None


def has_head(text: bytes) -> bool:
    """Whether the words with which a JVM says that it crashes stand in a text."""
    return FATAL.encode() in text or NO_MEMORY.encode() in text


def read_hs_err(stream: BinaryIO) -> Iterator[Record]:
    """The one record of a report; none where there is nothing of one. A cut report gives what it has."""
    kept: list[str] = []
    counts: dict[str, int] = {}
    first = 1
    for number, raw in enumerate(_lines(stream), 1):
        line = _plain(raw.decode("utf-8", "replace").rstrip())
        if _KEPT.match(line) and len(kept) < _MOST_KEPT:
            first = first if kept else number
            sort = "frame" if _FRAME.match(line) else line[:3]
            counts[sort] = counts.get(sort, 0) + 1
            if counts[sort] <= _MOST_OF_ONE:
                kept.append(line[:_MOST_OF_LINE])
    text = "\n".join(kept)
    if FATAL not in text and NO_MEMORY not in text:
        return
    frames = tuple(line for line in kept if _FRAME.match(line))[:_MOST_OF_ONE]
    yield Record(tuple(kept), first, _time_ms(text), "FATAL", frames)


def _plain(line: str) -> str:
    """A line of the head without what a terminal or a quotation put around it."""
    inner = line.strip(" │|")
    return f"# {inner.lstrip('# ')}" if inner.startswith(("#", FATAL)) else line


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines of which none is longer than a few kilobytes."""
    carry = b""
    while piece := stream.read(_STEP):
        *lines, carry = (carry + piece).split(b"\n")
        yield from lines
        carry = carry[:_STEP]
    if carry:
        yield carry


def _time_ms(text: str) -> int | None:
    """When it crashed. Zones are names that say little (CET, IST); only those of the world's clock are believed."""
    found = _TIME.search(text)
    if found is None or found["month"] not in _MONTHS:
        return None
    zone = found["zone"] or next(iter(_ZONE.findall(text)), "")
    if zone not in ("UTC", "GMT", "Z"):
        return None
    hour, minute, second = (int(part) for part in found["clock"].split(":"))
    month = _MONTHS.index(found["month"]) + 1
    try:
        when = datetime(int(found["year"]), month, int(found["day"]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return round(when.timestamp() * 1000)


class NativeFrame(Struct, frozen=True):
    """A frame of a crashed thread: `kind` as the JVM has it (C native, V the JVM itself, J compiled, j interpreted)."""

    kind: str
    library: str | None
    function: str | None


class Crash(Struct, frozen=True):
    """What a report, or its head alone, says. Sizes are bytes, None where it does not say."""

    frame: NativeFrame | None
    stack: tuple[NativeFrame, ...]
    pid: str | None
    thread: str | None
    java: str | None
    heap_max_bytes: int | None
    container_limit_bytes: int | None
    resident_bytes: int | None
    machine_bytes: int | None
    available_bytes: int | None


_NATIVE: Final = re.compile(
    r"(?P<kind>[CVA])\s+\[(?P<library>[^\]+]+)(?:\+0x[0-9a-f]+)?\](?:\s+(?P<function>\S[^\n]*))?"
)
_JAVA: Final = re.compile(r"(?P<kind>[jJ])\s+(?:\d+%?\s*(?:!|b|s|n)*\s+)?(?:c[12]\s+)?(?P<function>[\w$.<>/]+)")
_REPORTING: Final = re.compile(
    r"VMError::|report_(?:vm_error|fatal|and_die)|JVM_handle_\w+signal|os::(?:Linux|abort|die)"
)
"""Frames of the JVM while it writes the report."""
_SIZES: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def frame_of(text: str) -> NativeFrame | None:
    """A frame as the JVM prints it: `C  [libsnappyjava.so+0x1234]  snappy::…`, `J 123 c2 org.apache…`."""
    text = text.strip().lstrip("#│| ")
    if found := _NATIVE.match(text):
        function = re.sub(r"\+0x[0-9a-f]+$", "", found["function"] or "").strip()
        return NativeFrame(found["kind"], found["library"].strip(), function or None)
    if found := _JAVA.match(text):
        return NativeFrame(found["kind"], None, found["function"].replace("/", "."))
    return None


def crash_of(text: str) -> Crash:
    """The facts in the text of one record."""
    problem = re.search(rf"Problematic frame:{_GAP}([^\n]+)", text)
    lines = [line.strip(" │|") for line in text.split("\n")]
    stack = tuple(frame for line in lines if _FRAME.match(line) and (frame := frame_of(line)) is not None)
    own = next((one for one in stack if not _REPORTING.match(one.function or "")), None)
    return Crash(
        frame=(frame_of(problem[1]) if problem else None) or own,
        stack=stack,
        pid=_first(r"pid=(\d+)", text),
        thread=_first(r'Current thread[^\n"]*"([^"\n]+)"', text),
        java=_first(r"JRE version: [^\n]*\(build ([^)\s]+)\)", text),
        heap_max_bytes=_size(text, r"Heap Max Capacity: (\d+)(\w?)") or _size(text, r"MaxHeapSize\s+:?= (\d+)()"),
        container_limit_bytes=_size(text, r"memory_limit_in_bytes: (\d+) ?([kK]?)"),
        resident_bytes=_size(text, r"Resident Set Size: (\d+)([KMG])"),
        machine_bytes=_size(text, r"MemTotal: +(\d+) ([kK])B") or _size(text, r"physical (\d+)([kKmM])"),
        available_bytes=_size(text, r"MemAvailable: +(\d+) ([kK])B")
        or _size(text, r"physical \d+[kKmM]\((\d+)([kKmM]) free"),
    )


def _first(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found[1] if found else None


def _size(text: str, pattern: str) -> int | None:
    found = re.search(pattern, text)
    return int(found[1]) * _SIZES.get(found[2].lower(), 1) if found else None
