"""Logs of the garbage collector in the forms of Java 8 to 25."""

from __future__ import annotations

import io
import re

import pytest

from emberscope.logs.gc_log import FULL_HEAP, LONG_PAUSE, Pause, looks_like_gc_log, pauses, read_gc_log
from emberscope.logs.record import Record

MIB = 1 << 20

# (a line of a log, what, seconds, absolute, ms, MiB or K before, after, heap, ms of the processor)
LINES = [
    (  # these three: -Xlog:gc of JDK 17, as posted in public runbooks
        "[2026-09-09T13:41:02.113+0000][41802.318s][info][gc] GC(7712) Pause Full (G1 Compaction Pause) "
        "608M->437M(616M) 1841.907ms",
        ("Pause Full (G1 Compaction Pause)", 1_788_961_262.113, True, 1841.907, 608 * MIB, 437 * MIB, 616 * MIB, None),
    ),
    (
        "[23.417s][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 24M->7M(256M) 5.123ms",
        ("Pause Young (Normal) (G1 Evacuation Pause)", 23.417, False, 5.123, 24 * MIB, 7 * MIB, 256 * MIB, None),
    ),
    (
        "[2024-07-05T06:00:26.128-0700][info][gc          ] GC(67) Pause Young (Mixed) (G1 Evacuation Pause) "
        "4094M->4094M(4096M) 51.744ms\n[2024-07-05T06:00:26.128-0700][info][gc,cpu      ] GC(67) User=0.17s Sys=0.02s "
        "Real=0.05s",
        (
            *("Pause Young (Mixed) (G1 Evacuation Pause)", 1_720_184_426.128, True, 51.744),
            *(4094 * MIB, 4094 * MIB, 4096 * MIB, 190.0),
        ),
    ),
    (  # Plumbr's handbook, Parallel GC: Full GC
        "2015-05-26T14:27:41.155-0200: 116.356: [Full GC (Ergonomics) [PSYoungGen: 1305132K->0K(2796544K)] [ParOldGen: "
        "7133794K->6597672K(8388608K)] 8438926K->6597672K(11185152K), [Metaspace: 6745K->6745K(1056768K)], 0.9158801 "
        "secs] [Times: user=4.49 sys=0.64, real=0.92 secs]",
        (
            *("Full GC (Ergonomics)", 1_432_657_661.155, True, 915.8801),
            *(8_438_926 << 10, 6_597_672 << 10, 11_185_152 << 10, 5130.0),
        ),
    ),
    (
        "104429.457: [Full GC (System) 104429.457: [CMS: 219741K->215266K(1835008K), 0.5469450 secs] "
        "244623K->215266K(2070976K), [CMS Perm : 128846K->128831K(262144K)], 0.5470720 secs] [Times: user=0.54 "
        "sys=0.00, real=0.55 secs]",
        ("Full GC (System)", 104429.457, False, 547.072, 244_623 << 10, 215_266 << 10, 2_070_976 << 10, 540.0),
    ),
    (
        "0.064: [GC (Allocation Failure) 0.064: [ParNew: 509K->64K(576K), 0.0032549 secs] 509K->282K(1984K), 0.0033544 "
        "secs] [Times: user=0.01 sys=0.00, real=0.00 secs]",
        ("GC (Allocation Failure)", 0.064, False, 3.3544, 509 << 10, 282 << 10, 1984 << 10, 10.0),
    ),
    (
        "[GC pause (G1 Evacuation Pause) (young) 30M->10M(256M), 0.0031861 secs]",
        ("GC pause (G1 Evacuation Pause) (young)", None, False, 3.1861, 30 * MIB, 10 * MIB, 256 * MIB, None),
    ),
    (
        "2021-04-28T15:21:59.099+0800: 2937.835: [GC pause (G1 Evacuation Pause) (young), 0.0661521 secs]\n"
        "   [Parallel Time: 23.1 ms, GC Workers: 4]\n"
        "   [Eden: 6096.0M(6096.0M)->0.0B(256.0M) Survivors: 48.0M->256.0M Heap: 6468.5M(10.0G)->575.3M(10.0G)]\n"
        " [Times: user=0.16 sys=0.02, real=0.07 secs]",
        (
            *("GC pause (G1 Evacuation Pause) (young)", 1_619_594_519.099, True, 66.1521),
            *(round(6468.5 * MIB), round(575.3 * MIB), 10 << 30, 180.0),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), LINES, ids=range(len(LINES)))
def test_every_form_of_a_pause(line: str, expected: tuple[object, ...]) -> None:
    (pause,) = pauses(io.BytesIO(f"first line\n{line}\n".encode()))
    got = (pause.what, pause.at_s, pause.absolute, pause.ms, pause.before_bytes, pause.after_bytes, pause.heap_bytes)
    assert got == pytest.approx(expected[:-1])
    assert pause.cpu_ms == (None if expected[-1] is None else pytest.approx(expected[-1]))
    assert pause.line == 2
    assert looks_like_gc_log(line.encode())


def records(text: str) -> list[Record]:
    return list(read_gc_log(io.BytesIO(text.encode())))


def unified(at_s: float, what: str, before: int, after: int, ms: float) -> str:
    return f"[{at_s:.3f}s][info][gc] GC({int(at_s)}) {what} {before}M->{after}M(8192M) {ms:.3f}ms\n"


HEALTHY = "".join(unified(10.0 + n, "Pause Young (Normal) (G1 Evacuation Pause)", 5000, 900, 12.5) for n in range(200))
FULL = "".join(unified(300.0 + 5 * n, "Pause Full (G1 Compaction Pause)", 8190, 8188, 4500.0) for n in range(6))


def test_a_healthy_log_says_only_what_it_is() -> None:
    (record,) = records("[0.005s][info][gc] Using G1\n" + HEALTHY)
    assert record.level == "INFO"
    assert "200 pauses in 199 s, 2.5 s in all, the longest 12 ms" in record.text
    assert re.search(FULL_HEAP.pattern, record.text) is None


def test_a_heap_that_stays_full() -> None:
    _, record = records(HEALTHY + FULL)
    found = re.search(FULL_HEAP.pattern, record.text)
    assert found is not None
    assert (int(found["count"]), float(found["seconds"])) == (6, 29.5)
    assert (int(found["after"]), int(found["heap"])) == (8188 * MIB, 8192 * MIB)
    assert float(found["share"]) == pytest.approx(27 / 29.5, abs=0.01)
    assert record.line == 206
    assert record.lines[-1] in FULL


def test_full_collections_that_free_something_are_no_full_heap() -> None:
    freed = FULL.replace("->8188M", "->2000M")
    assert len(records(HEALTHY + freed)) == 1
    mixed = FULL.splitlines(keepends=True)
    mixed[2], mixed[4] = mixed[2].replace("->8188M", "->2000M"), mixed[4].replace("->8188M", "->2000M")
    assert len(records(HEALTHY + "".join(mixed))) == 1


def test_a_pause_longer_than_a_heartbeat() -> None:
    cpu = "[500.000s][info][gc,cpu] GC(500) User=1.50s Sys=0.50s Real=132.00s\n"
    _, record = records(HEALTHY + unified(500, "Pause Full (Ergonomics)", 5000, 900, 132_000) + cpu)
    found = re.search(LONG_PAUSE.pattern, record.text)
    assert found is not None
    assert (found["ms"], found["what"], found["cpu_ms"]) == ("132000", "Pause Full Ergonomics", "2000")


def test_times_of_the_calendar_are_kept() -> None:
    record = records(LINES[0][0] + "\n")[0]
    assert record.time_ms == 1_788_961_262_113
    assert records(LINES[1][0] + "\n")[0].time_ms is None


def test_where_blocks_end_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from emberscope.logs import gc_log

    def read() -> list[Pause]:
        return list(pauses(io.BytesIO((HEALTHY + FULL).encode())))

    whole = read()
    assert len(whole) == 206
    for size in (1, 7, 100, 1000):
        monkeypatch.setattr(gc_log, "_BLOCK", size)
        assert read() == whole


@pytest.mark.parametrize(
    "text",
    [
        "24/05/16 10:42:07 INFO Executor: Running task\n" * 20 + "[GC (Allocation Failure)  1K->1K(2K), 0.1 secs]\n",
        "Dear diary\n",
        "a GC (of sorts)\n",
        '{"a": "[GC (x)"}\n',
    ],
)
def test_other_texts_are_no_such_log(text: str) -> None:
    assert not looks_like_gc_log(text.encode())


def test_garbage_is_read_without_a_fault() -> None:
    noise = bytes(range(256)) * 50 + b"\n" + FULL.encode()[: len(FULL) // 2] + b"\xff" * 100
    assert all(record.lines for record in read_gc_log(io.BytesIO(noise)))
    assert list(read_gc_log(io.BytesIO(b""))) == []
