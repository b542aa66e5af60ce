"""Logs of the garbage collector, in the unified form (from Java 9 on) and the older ones: how full the heap stayed, and
how long the process stood still.

A log may have millions of pauses. It is read block by block and nothing is kept but sums, the longest pause and the
last collections of the whole heap; what is worth telling becomes records that the signatures here find.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import BinaryIO, Final

from msgspec import Struct

from emberscope.logs.record import Record
from emberscope.logs.signature import Signature

FULL_HEAP: Final = Signature(
    "gc_full_heap",
    r"GC log: the heap stayed full: (?P<count>\d+) collections of all of it within (?P<seconds>[\d.]+) s left "
    r"(?P<after>\d+) of (?P<heap>\d+) bytes in use and took (?P<share>[\d.]+) of that time",
    ("GC log: the heap stayed full",),
)
LONG_PAUSE: Final = Signature(
    "gc_long_pause",
    r"GC log: the process stood still for (?P<ms>\d+) ms at once \((?P<what>[^()\n]*)\); the heap then held "
    r"(?P<after>\d+) of (?P<heap>\d+) bytes(?:; of the processor it had (?P<cpu_ms>\d+) ms)?",
    ("GC log: the process stood still",),
)

FULL_SHARE: Final = 0.9
"""A heap of which more than this is in use after all of it was collected is full (our proposal)."""
FREED_SHARE: Final = 0.05
"""A collection of the whole heap that frees less than this of it was in vain (our proposal)."""
LEAST_FULL: Final = 3
"""So many such collections in a row at the end of a stretch are no accident (our proposal)."""
LONG_MS: Final = 10_000
"""Spark's executors tell the driver that they live every 10 s (spark.executor.heartbeatInterval)."""

_UNIT: Final = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "": 1}
_SIZE: Final = rb"([\d.,]+)([BKMG])"

# [2024-05-16T10:42:07.123+0000][12.3s][info][gc] GC(12) Pause Full (G1 Compaction Pause) 8190M->8188M(8192M) 6543.2ms
_UNIFIED: Final = re.compile(
    rb"^(?P<tags>(?:\[[^\]\n]*\])+)\s*GC\((?P<id>\d+)\) (?P<what>Pause [^\n]*?) "
    rb"(\d+)([BKMG])->(\d+)([BKMG])\((\d+)([BKMG])\) (?P<ms>[\d.,]+)ms",
    re.M,
)
_UNIFIED_CPU: Final = re.compile(rb"GC\((\d+)\) User=([\d.]+)s Sys=([\d.]+)s Real=([\d.]+)s")
# 2015-05-26T14:27:41.155-0200: 116.356: [Full GC (Ergonomics) [PSYoungGen: …] 8438926K->6597672K(11185152K), … secs]
_OLD: Final = re.compile(
    rb"^(?:(?P<date>\d{4}-\d\d-\d\dT[\d:.]+[+-]\d{4}): )?(?:(?P<uptime>\d+[.,]\d+): )?(?:#\d+: )?"
    rb"\[(?P<what>(?:Full )?GC(?: pause)? ?(?:\([^)\n]*\) ?)*)(?P<rest>[^\n]*)",
    re.M,
)
_HEAP_OF_OLD: Final = re.compile(rb"(?<!: )(?<![\w.])(\d+)([KM])->(\d+)([KM])\((\d+)([KM])\)")
_SECONDS: Final = re.compile(rb"([\d.]+) secs\]")
_TIMES: Final = re.compile(rb"\[Times: user=([\d.]+) sys=([\d.]+), real=([\d.]+) secs\]")
# The old G1 tells sizes in a line of their own.
_HEAP_OF_G1: Final = re.compile(rb"Heap: ([\d.]+)([BKMG])\([\d.]+[BKMG]\)->([\d.]+)([BKMG])\(([\d.]+)([BKMG])\)")

_LOOKS: Final = re.compile(
    rb"^(?:\[[^\]\n]*\])*\[gc[ ,\]*]|^(?:\d{4}-\d\d-\d\dT\S+: )?(?:\d+[.,]\d+: )?\[(?:Full )?GC[ (]"
    rb"|^(?:OpenJDK|Java HotSpot)[^\n]*VM \([^\n]*\) for \S+ JRE",
    re.M,
)
_OTHER_LINES: Final = re.compile(rb"^\d{2,4}[/-]\d\d[/-]\d\d[ T][\d:.,]+ +(?:TRACE|DEBUG|INFO|WARN|ERROR)", re.M)

_BLOCK: Final = 1 << 20
_MOST_OF_LINE: Final = 8 << 20


class Pause(Struct, frozen=True):
    """One pause. `at_s` is seconds since the start of the JVM or, with `absolute`, since 1970; sizes in bytes."""

    what: str
    at_s: float | None
    absolute: bool
    ms: float
    before_bytes: int
    after_bytes: int
    heap_bytes: int
    line: int
    quote: str
    cpu_ms: float | None = None

    @property
    def is_full(self) -> bool:
        return self.what.startswith(("Pause Full", "Full GC"))

    @property
    def in_vain(self) -> bool:
        """Whether all of the heap was collected and it stayed as full as it was."""
        freed = self.before_bytes - self.after_bytes
        return (
            self.is_full
            and self.heap_bytes > 0
            and self.after_bytes >= FULL_SHARE * self.heap_bytes
            and freed <= FREED_SHARE * self.heap_bytes
        )


class GcLog(Struct):
    """What is known of a log: number and sum of its pauses, the longest, and the fullest stretch."""

    pauses: int = 0
    paused_ms: float = 0.0
    first: Pause | None = None
    last: Pause | None = None
    longest: Pause | None = None
    full: int = 0
    vain: tuple[Pause, ...] = ()
    vain_count: int = 0


def looks_like_gc_log(head: bytes) -> bool:
    """Whether a file begins with lines of the collector: not a log of something else that has some."""
    found = _LOOKS.search(head)
    other = _OTHER_LINES.search(head)
    return found is not None and (other is None or len(_LOOKS.findall(head)) > 4 * len(_OTHER_LINES.findall(head)))


def read_gc_log(stream: BinaryIO) -> Iterator[Record]:
    """What there is to say of a log: one record about all of it, and one for each trouble."""
    log = summed(pauses(stream))
    if log.first is None or log.last is None:
        return
    yield Record((_in_all(log),), log.first.line, _time_ms(log.first), "INFO")
    if log.vain_count >= LEAST_FULL:
        first, last = log.vain[0], log.vain[-1]
        seconds = max(0.001, (last.at_s or 0) - (first.at_s or 0) + last.ms / 1000)
        spent = min(1.0, sum(pause.ms for pause in log.vain) / 1000 / seconds)
        said = (
            f"GC log: the heap stayed full: {log.vain_count} collections of all of it within {seconds:.1f} s left "
            f"{last.after_bytes} of {last.heap_bytes} bytes in use and took {spent:.2f} of that time"
        )
        yield Record((said, *(pause.quote for pause in log.vain[-3:])), last.line, _time_ms(last), "ERROR")
    long = log.longest
    if long is not None and long.ms >= LONG_MS:
        cpu = "" if long.cpu_ms is None else f"; of the processor it had {long.cpu_ms:.0f} ms"
        said = (
            f"GC log: the process stood still for {long.ms:.0f} ms at once ({long.what.translate(_NO_BRACKETS)}); the "
            f"heap then held {long.after_bytes} of {long.heap_bytes} bytes{cpu}"
        )
        yield Record((said, long.quote), long.line, _time_ms(long), "WARN")


_NO_BRACKETS: Final = str.maketrans("", "", "()")


def summed(found: Iterator[Pause]) -> GcLog:
    """All pauses in one. `vain` are the collections of the longest row that freed nothing, the last of them."""
    log = GcLog()
    row: deque[Pause] = deque(maxlen=200)
    count = 0
    for pause in found:
        log.pauses += 1
        log.paused_ms += pause.ms
        log.first = log.first or pause
        log.last = pause
        if log.longest is None or pause.ms > log.longest.ms:
            log.longest = pause
        if not pause.is_full:
            continue
        log.full += 1
        if not pause.in_vain:
            row.clear()
            count = 0
            continue
        row.append(pause)
        count += 1
        if count >= log.vain_count:
            log.vain, log.vain_count = tuple(row) if count < 200 or count % 50 == 0 else log.vain, count
    if row and count == log.vain_count:
        log.vain = tuple(row)
    return log


def pauses(stream: BinaryIO) -> Iterator[Pause]:
    """Every pause of a log, in its order, from blocks of whole lines."""
    line = 1
    carry = b""
    while True:
        piece = stream.read(_BLOCK)
        data = carry + piece
        if not data:
            return
        end = data.rfind(b"\n") + 1 if piece else len(data)
        if not end:
            carry = data if len(data) <= _MOST_OF_LINE else b""  # no log of a collector has such lines
            continue
        block, carry = data[:end], data[end:]
        # What a pause took of the processor may stand in the lines below it.
        yield from _unified(block, line) if b"GC(" in block else _old(block, line)
        line += block.count(b"\n")
        if not piece:
            return


def _unified(block: bytes, first_line: int) -> Iterator[Pause]:
    cpu = {found[1]: (float(found[2]) + float(found[3])) * 1000 for found in _UNIFIED_CPU.finditer(block)}
    line, position = first_line, 0
    for found in _UNIFIED.finditer(block):
        line += block.count(b"\n", position, found.start())
        position = found.start()
        at_s, absolute = _unified_time(found["tags"])
        before, after, heap = (int(found[number]) * _UNIT[found[number + 1].decode()] for number in (4, 6, 8))
        yield Pause(
            " ".join(found["what"].decode("utf-8", "replace").split()),
            at_s,
            absolute,
            float(found["ms"].replace(b",", b".")),
            before,
            after,
            heap,
            line,
            found[0].decode("utf-8", "replace")[:300],
            cpu.get(found["id"]),
        )


def _unified_time(tags: bytes) -> tuple[float | None, bool]:
    text = tags.decode("utf-8", "replace")
    if (date := re.search(r"\[(\d{4}-\d\d-\d\dT[\d:.,]+[+-]\d{4})\]", text)) and (at := _epoch(date[1])) is not None:
        return at, True
    if uptime := re.search(r"\[\s*(\d+[.,]\d+)s\]", text):
        return float(uptime[1].replace(",", ".")), False
    if uptime := re.search(r"\[\s*(\d+)ms\]", text):
        return int(uptime[1]) / 1000, False
    return None, False


def _old(block: bytes, first_line: int) -> Iterator[Pause]:
    line, position = first_line, 0
    starts = list(_OLD.finditer(block))
    for number, found in enumerate(starts):
        line += block.count(b"\n", position, found.start())
        position = found.start()
        seconds = _SECONDS.findall(re.sub(rb"\[Times:[^\]]*\]", b"", found["rest"]))
        heaps = _HEAP_OF_OLD.findall(found["rest"])
        below = block[found.end() : starts[number + 1].start() if number + 1 < len(starts) else found.end() + 4096]
        if heaps:
            before, after, whole = (int(heaps[-1][at]) * _UNIT[heaps[-1][at + 1].decode()] for at in (0, 2, 4))
        elif (heap := _HEAP_OF_G1.search(found["rest"]) or _HEAP_OF_G1.search(below)) is not None:
            before, after, whole = (round(float(heap[at]) * _UNIT[heap[at + 1].decode()]) for at in (1, 3, 5))
        else:
            continue
        if not seconds:
            continue
        times = _TIMES.search(found["rest"]) or _TIMES.search(below)
        date = found["date"].decode() if found["date"] else None
        at_s = _epoch(date) if date else None
        absolute = at_s is not None
        if at_s is None and found["uptime"]:
            at_s = float(found["uptime"].replace(b",", b"."))
        yield Pause(
            found["what"].decode("utf-8", "replace").strip(),
            at_s,
            absolute,
            float(seconds[-1]) * 1000,
            before,
            after,
            whole,
            line,
            found[0].decode("utf-8", "replace")[:300],
            (float(times[1]) + float(times[2])) * 1000 if times else None,
        )


def _epoch(text: str) -> float | None:
    """Seconds since 1970 of `2015-05-26T14:27:41.155-0200`."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.,]?(\d*)([+-])(\d\d)(\d\d)", text)
    if found is None:
        return None
    away = timedelta(hours=int(found[4]), minutes=int(found[5])) * (-1 if found[3] == "-" else 1)
    try:
        when = datetime.fromisoformat(found[1]).replace(tzinfo=timezone(away))
    except ValueError:
        return None
    return when.timestamp() + float(f"0.{found[2] or 0}")


def _time_ms(pause: Pause) -> int | None:
    return round(pause.at_s * 1000) if pause.absolute and pause.at_s is not None else None


def _in_all(log: GcLog) -> str:
    assert log.first is not None
    assert log.last is not None
    assert log.longest is not None
    length = None if log.first.at_s is None or log.last.at_s is None else log.last.at_s - log.first.at_s
    within = f" in {length:.0f} s" if length else ""
    return (
        f"GC log: {log.pauses} pauses{within}, {log.paused_ms / 1000:.1f} s in all, the longest {log.longest.ms:.0f} "
        f"ms; {log.full} collections of the whole heap; {log.last.after_bytes} of {log.last.heap_bytes} bytes "
        "at the end"
    )
