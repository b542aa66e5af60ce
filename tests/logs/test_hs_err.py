"""Reports of crashes: who crashed, where, and what memory there was."""

from __future__ import annotations

import io
import re

import pytest

from emberscope.logs.hs_err import CRASH, NATIVE_MEMORY, crash_of, looks_like_hs_err, read_hs_err
from emberscope.logs.record import Record
from tests.logs import crashes


def read(text: str) -> Record:
    (record,) = read_hs_err(io.BytesIO(text.encode()))
    return record


def test_a_report_is_one_record_of_what_tells() -> None:
    record = read(crashes.REPORT)
    assert record.lines[3] == "# Internal Error (javaCalls.cpp:61), pid=11755, tid=11808"
    assert record.line == 1
    assert record.time_ms == 1_754_407_556_000  # 2025-08-05 15:25:56 UTC
    assert record.level == "FATAL"
    assert "libasyncProfiler" in record.frames[2]
    assert "Registers" not in record.text
    assert "RAX" not in record.text
    assert "hunter2" not in record.text


def test_the_facts_of_a_report() -> None:
    crash = crash_of(read(crashes.REPORT).text)
    assert crash.frame is not None
    assert (crash.frame.kind, crash.frame.library) == ("V", "libjvm.so")
    assert crash.frame.function is not None
    assert crash.frame.function.startswith("JavaCallWrapper")
    assert crash.thread == "C2 CompilerThread0"
    assert crash.java == "17.0.16+8-LTS"
    assert crash.pid == "11755"
    assert crash.heap_max_bytes == 3904 << 20
    assert crash.machine_bytes == 15_987_660 << 10
    assert crash.available_bytes == 12_581_352 << 10
    assert crash.resident_bytes == 64_432 << 10
    assert crash.container_limit_bytes is None
    assert [frame.library for frame in crash.stack if frame.kind == "C"] == ["libasyncProfiler.so"] * 2


@pytest.mark.parametrize(
    ("text", "what", "frame"),
    [
        (crashes.BOXED, "SIGSEGV", None),
        (crashes.IN_JVM, "SIGSEGV", "V  [libjvm.so+0x689fa9]"),
        (crashes.IN_NATIVE, "SIGSEGV", "C  [libspark_columnar_jni.so"),
        (crashes.IN_JAVA, "SIGSEGV", "J 11279 c1 org.apache.spark.unsafe.Platform.putInt"),
        (crashes.IN_LIBC, "SIGSEGV", "C  [libc.so.6+0x34529]  abort"),
        (crashes.REPORT, "Internal Error", "V  [libjvm.so+0x82a3e7]"),
    ],
)
def test_the_signature_finds_the_head_wherever_it_stands(text: str, what: str, frame: str | None) -> None:
    for said in (text, f"24/05/16 10:42:07 INFO Executor: Running task 3.0\n{text}", read(text).text):
        found = re.search(CRASH.pattern, said, re.MULTILINE)
        assert found is not None
        assert any(literal in said for literal in CRASH.literals)
        assert found["what"] == what
        assert (found["frame"] or "").startswith(frame) if frame else found["frame"] is None


@pytest.mark.parametrize(
    ("text", "size"), [(crashes.NO_MEMORY, 8 << 30), (crashes.COMMIT, 16 << 30), (crashes.SMALL, 256 << 10)]
)
def test_memory_that_was_refused(text: str, size: int) -> None:
    found = re.search(NATIVE_MEMORY.pattern, text, re.MULTILINE)
    assert found is not None
    assert any(literal in text for literal in NATIVE_MEMORY.literals)
    assert int(found["bytes"] or found["commit"]) == size
    assert re.search(CRASH.pattern, text, re.MULTILINE) is None


def test_only_a_file_that_begins_so_is_a_report() -> None:
    assert looks_like_hs_err(crashes.REPORT.encode())
    assert looks_like_hs_err(crashes.NO_MEMORY.encode() + b"\n---------------  T H R E A D  ---------------\n")
    assert not looks_like_hs_err(crashes.IN_NATIVE.encode())
    assert not looks_like_hs_err(b"24/05/16 10:42:07 INFO x: y\n" + crashes.REPORT.encode())
    assert not looks_like_hs_err(b"# a comment\nspark.master local\n")


@pytest.mark.parametrize("cut", [10, 60, 130, 400, 900, 1500])
def test_a_report_that_is_cut_gives_what_it_has(cut: int) -> None:
    records = list(read_hs_err(io.BytesIO(crashes.REPORT.encode()[:cut])))
    assert len(records) == (1 if cut > 60 else 0)
    for record in records:
        crash_of(record.text)


def test_a_report_with_a_line_without_end_stays_small() -> None:
    long = crashes.REPORT.replace("TestApp", "x" * 3_000_000)
    assert len(read(long).text) < 10_000
    assert crash_of(read(long).text).heap_max_bytes == 3904 << 20


def test_a_time_in_a_zone_of_three_letters_is_not_believed() -> None:
    assert read(crashes.REPORT.replace("2025 UTC", "2025 IST")).time_ms is None
    older = crashes.REPORT.replace("2025 UTC elapsed", "2025\ntimezone: UTC\nelapsed")
    assert read(older).time_ms == 1_754_407_556_000
