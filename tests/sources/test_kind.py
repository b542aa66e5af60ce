import bz2
import gzip
import lzma
import random
import re
from pathlib import Path

import pytest
import zstandard

from emberscope.errors import InputError
from emberscope.sources.kind import kind_of
from tests.jfr.recordings import plain
from tests.jfr.test_source import PACKINGS

LOG = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.1"}\n'
JFR = b"FLR\0" + bytes(64)
COLLAPSED = b"main;run;work 12\nmain 3\n"
CRASH = b"#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGSEGV (0xb) at pc=0x1, pid=1\n"
SCRIPT = b"java 123 [001] 4.5: 10101010 cpu-clock:\n\t 7f01 read+0x4 (/lib/libc.so.6)\n\n"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (LOG, "event_log"),
        (gzip.compress(LOG, mtime=0), "event_log"),
        (zstandard.compress(LOG), "event_log"),
        (bz2.compress(LOG), "event_log"),
        (lzma.compress(LOG), "event_log"),
        (b"PK\x03\x04", "archive"),
        (gzip.compress(b"PK\x03\x04", mtime=0), "archive"),
        (JFR, "recording"),
        (gzip.compress(JFR, mtime=0), "recording"),
        (bz2.compress(COLLAPSED), "collapsed"),
        (COLLAPSED, "collapsed"),
        (gzip.compress(COLLAPSED, mtime=0), "collapsed"),
        (COLLAPSED.decode().encode("utf-16"), "collapsed"),
        (b"# thread\n\n" + COLLAPSED + b"main;run;cut o", "collapsed"),
        (b"[0.005s][info][gc] Using G1\n", "gc_log"),
        (b"0.064: [GC (Allocation Failure)  509K->282K(1984K), 0.0033544 secs]\n", "gc_log"),
        (gzip.compress(b"[0.005s][info][gc] Using G1\n"), "gc_log"),
        (CRASH + b"#\n---------------  S U M M A R Y ------------\n", "hs_err"),
        (CRASH, "container_log"),
        (SCRIPT, "perf_script"),
        (gzip.compress(SCRIPT, mtime=0), "perf_script"),
        (b"# captured on: today\n#\n" + SCRIPT + b"java 12", "perf_script"),
    ],
)
def test_a_file_is_known_by_its_content_whatever_its_name(tmp_path, data, kind):
    path = tmp_path / "holiday.png"
    path.write_bytes(data)
    assert kind_of(str(path)) == kind


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"\x7fELF" + bytes(100), "looks like a program"),
        (bytes(range(256)), "looks like binary data"),
        (b"\x89PNG\r\n\x1a\n", "looks like a picture"),
        (b"PAR1", "looks like a Parquet file"),
        (b"spark.master local\n", "looks like a Spark configuration"),
        (b"# TYPE x counter\n", "looks like Prometheus metrics"),
        (b"<!DOCTYPE html>", "looks like an HTML page"),
        (b'{"a": 1}', "looks like a JSON document"),
        (b"#!/bin/sh\n", "looks like a script"),
        (b"Dear diary\n", "looks like plain text"),
        (b"Yesterday; I was 12\nToday; I am 13\n", "looks like plain text"),
        (b"main 3\nmain 4\n", "looks like plain text"),
        (b"a;b;c\n1;2;3\n", "looks like plain text"),
        (b"int a = 1;\nfor (;;) { a += 2; }\n", "looks like plain text"),
        (b'requests{path="/a;b"} 12\nrequests{path="/"} 3\nerrors 4\n', "looks like plain text"),
        (b"at 12:00 job 7 [1] took 4.5: seconds\n", "looks like plain text"),
        (gzip.compress(b"Dear diary\n", mtime=0), "looks like plain text"),
        (gzip.compress(b"Dear diary\n", mtime=0)[:12], "looks like"),
    ],
)
def test_anything_else_is_named_in_one_sentence(tmp_path, data, words):
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(InputError, match=re.escape(words)) as error:
        kind_of(str(path))
    assert "\n" not in str(error.value)


def test_who_gives_what_cannot_be_read_hears_of_everything_that_can(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.4")
    for given in (path, tmp_path):
        with pytest.raises(InputError) as error:
            kind_of(str(given))
        assert all(words in (error.value.hint or "") for words in ("event log", "logs of ", "recording"))


def test_directories(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        kind_of(str(tmp_path / "none"))
    with pytest.raises(InputError, match="the directory is empty"):
        kind_of(str(tmp_path))
    (tmp_path / "a").mkdir()
    (tmp_path / "a/readme").write_text("hello")
    with pytest.raises(InputError, match="holds nothing that emberscope can read"):
        kind_of(str(tmp_path))
    (tmp_path / "a/x.jfr").write_bytes(JFR)
    assert kind_of(str(tmp_path)) == "recording"
    (tmp_path / "rolling").mkdir()
    (tmp_path / "rolling/events_1_app").write_bytes(LOG)
    (tmp_path / "rolling/appstatus_app").touch()
    assert kind_of(str(tmp_path / "rolling")) == "event_log"
    (tmp_path / "application.json").write_text("{}")
    assert kind_of(str(tmp_path)) == "run"


@pytest.mark.parametrize("pack", ["gzip", "zstd", "LZ4"])
def test_packed_recordings_are_told_by_their_content(pack: str, tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    for data in (plain("workload-jdk17.jfr.gz"), b"FLR\0" + random.Random(1).randbytes(5_000_000)):
        file.write_bytes(PACKINGS[pack](data))
        assert kind_of(str(file)) == "recording"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"25/01/31 12:00:00 INFO SparkContext: x\n", "container_log"),
        (gzip.compress(b"25/01/31 12:00:00 INFO SparkContext: x\n" * 9), "container_log"),
        (b"java.lang.IllegalStateException: x\n\tat a.B.c(B.java:1)\n", "container_log"),
        (b"[WARN] perf_event mmap failed: Operation not permitted\n", "container_log"),
        (b"Why does my Spark job hang at the last task?\n", "question"),
    ],
)
def test_logs_and_questions_are_told_by_content(tmp_path, data, kind):
    path = tmp_path / "x"
    path.write_bytes(data)
    assert kind_of(str(path)) == kind
