"""Crashes of JVMs: what the finding blames, and what it advises."""

from __future__ import annotations

from pathlib import Path

import pytest

from emberscope.rules.base import Finding
from emberscope.rules.failures.jvm_crash import RULE
from emberscope.rules.failures.libraries import library_of
from emberscope.rules.profilers.profiler_crash import RULE as PROFILER_CRASH
from tests.logs import crashes
from tests.rules.failures.log_files import run_of_file
from tests.rules.log_lines import run_of_words
from tests.runs import found

OWN_FRAMES = crashes.REPORT.replace("libasyncProfiler", "libjvm")


def crash(folder: Path, text: str) -> Finding:
    (finding,) = found(RULE, run_of_file(folder, text))
    return finding


def words(finding: Finding) -> str:
    return " ".join([finding.title, finding.summary, *(f"{a.setting} {a.value} {a.text}" for a in finding.advice)])


@pytest.mark.parametrize(
    ("text", "blamed"),
    [
        (crashes.BOXED.replace("│", ""), "SIGSEGV ended the JVM"),
        ("#\n" + crashes.IN_JVM, "in the JVM's own code"),
        (crashes.IN_NATIVE, "libspark_columnar_jni.so (the native SQL engine)"),
        ("#" + crashes.IN_JAVA, "org.apache.spark.unsafe.Platform.putInt"),
        (crashes.IN_LIBC, "in native code, libc.so.6"),
        (OWN_FRAMES, "in its own compiler"),
    ],
)
def test_it_says_whose_code_crashed(text: str, blamed: str, tmp_path: Path) -> None:
    finding = crash(tmp_path, text)
    assert blamed in words(finding)
    assert "hs_err" in finding.summary
    assert "134" in finding.summary
    assert finding.evidence[0].line is not None
    assert len(words(finding)) < 1300


def test_of_libraries_that_everybody_calls_the_caller_is_blamed(tmp_path: Path) -> None:
    stack = (
        "Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)\n"
        "C  [libc.so.6+0x34529]  abort+0x269\nC  [libsnappyjava.so+0x1234]  snappy::RawCompress+0x12\n"
    )
    finding = crash(tmp_path, crashes.IN_LIBC + stack)
    assert "libsnappyjava.so (snappy-java)" in finding.title
    assert any(advice.setting == "spark.io.compression.codec" for advice in finding.advice)


def test_in_the_standard_output_of_a_container(tmp_path: Path) -> None:
    before = "24/05/16 10:42:06 INFO Executor: Running task 3.0 in stage 14.0 (TID 7)\n" * 9
    finding = crash(tmp_path, before + crashes.IN_NATIVE + before)
    assert "libspark_columnar_jni.so" in finding.title
    assert finding.evidence[0].line == 13
    assert "SIGSEGV (0xb) at pc=" in finding.evidence[0].text


def test_a_file_that_went_away_under_its_mapping(tmp_path: Path) -> None:
    finding = crash(tmp_path, crashes.IN_NATIVE.replace("SIGSEGV (0xb)", "SIGBUS (0x7)"))
    assert "full" in finding.summary
    assert any("df -h" in advice.text for advice in finding.advice)


def test_a_crash_in_a_profiler_is_told_by_the_rule_about_these_and_not_twice(tmp_path: Path) -> None:
    run = run_of_file(tmp_path, crashes.REPORT)
    assert found(RULE, run) == []
    (finding,) = found(PROFILER_CRASH, run)
    assert finding.title.startswith("The JVM crashed in the profiler")


def test_memory_and_heap_are_evidence(tmp_path: Path) -> None:
    said = [evidence.text for evidence in crash(tmp_path, OWN_FRAMES).evidence]
    assert any("heap up to 3.8 GiB on a machine of 15.2 GiB" in text for text in said)
    assert "Java 17.0.16+8-LTS" in said


@pytest.mark.parametrize(
    "words",
    [
        "Our Spark executors keep dying with SIGSEGV and leave a core dump. What can we do?",
        "After the upgrade the JVM crashed on two executors, there is an hs_err_pid file in the container",
        "Spark executor: segmentation fault in a native library when it reads Parquet",
    ],
)
def test_it_is_known_in_plain_words(words: str) -> None:
    (finding,) = found(RULE, run_of_words(words))
    assert "native" in " ".join(advice.text for advice in finding.advice) + finding.summary + finding.title


@pytest.mark.parametrize(
    "words",
    ["Why is my Spark job slow on Tuesdays?", "The driver crashed with an OutOfMemoryError: Java heap space"],
)
def test_other_questions_are_not_about_it(words: str) -> None:
    assert found(RULE, run_of_words(words)) == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("libsnappyjava.so", "snappy-java"),
        ("snappy-1.1.8-libsnappyjava.so", "snappy-java"),
        ("librocksdbjni-linux64.so", "RocksDB"),
        ("libnetty_transport_native_epoll_x86_64.so", "Netty's native transport"),
        ("libvelox.so", "Gluten and Velox"),
        ("libcomet-123.so", "DataFusion Comet"),
        ("libhadoop.so.1.0.0", "Hadoop's native code"),
    ],
)
def test_libraries_are_known_by_their_files(file: str, name: str) -> None:
    library = library_of(file)
    assert library is not None
    assert library.name == name


def test_others_are_not() -> None:
    assert library_of("libc.so.6") is None
    assert library_of("libjvm.so") is None
    assert library_of(None) is None
