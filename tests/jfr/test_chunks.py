"""A recording chunk by chunk."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from emberscope import jfr
from emberscope.errors import InputError
from tests.jfr.recordings import DATA, plain

SEVERAL = "FastSlow_2024_01_16_180855.jfr.gz"


def summary(chunks: jfr.Chunks) -> list[tuple[int, int]]:
    return [(chunk.header.offset, sum(chunk.event_counts.values())) for chunk in chunks]


@pytest.mark.parametrize("threads", [1, 2])
def test_paths_bytes_and_streams(threads: int, tmp_path: Path) -> None:
    data = plain(SEVERAL)
    file = tmp_path / "plain"
    file.write_bytes(data)
    packed = DATA / SEVERAL
    expected = summary(jfr.read(packed, threads=threads))
    assert len(expected) == 3
    assert sum(events for _, events in expected) == 1227
    for recording in (str(packed), file, data, packed.read_bytes(), io.BytesIO(data), io.BytesIO(packed.read_bytes())):
        assert summary(jfr.read(recording, threads=threads)) == expected
    with file.open("rb") as stream:
        assert summary(jfr.read(stream, threads=threads)) == expected


def test_all_types_or_some() -> None:
    (everything,) = jfr.read(DATA / "workload-jdk17.jfr.gz")
    (some,) = jfr.read(DATA / "workload-jdk17.jfr.gz", types=["jdk.GCHeapSummary", "no.such.Type"])
    assert some.event_counts == everything.event_counts
    assert some.table("jdk.GCHeapSummary") == everything.table("jdk.GCHeapSummary")
    assert everything.table("jdk.CPULoad").num_rows == everything.event_counts["jdk.CPULoad"]
    with pytest.raises(KeyError, match="was not read"):
        some.table("jdk.CPULoad")
    assert some.pool("jdk.types.GCWhen") == everything.pool("jdk.types.GCWhen")
    with pytest.raises(KeyError, match="no constants"):
        some.pool("jdk.types.StackTrace")
    with pytest.raises(KeyError, match="not described"):
        everything.table("no.such.Type")


def test_version_1_is_read_under_its_own_names() -> None:
    (chunk,) = jfr.read(DATA / "MetadataBaseline_9.jfr.gz")
    assert chunk.header.version == "1.0"
    assert sum(chunk.event_counts.values()) == 3153
    sleeps = chunk.table("com.oracle.jdk.ThreadSleep")
    assert sleeps.column_names == [
        "startTime",
        "duration",
        *(f"eventThread.{name}" for name in ("osName", "osThreadId", "javaName", "javaThreadId", "group")),
        "stackTrace",
        "stackTrace.truncated",
        "time",
    ]
    assert sleeps["time"].cast("int64").to_pylist() == [200_000_000] * 4
    assert {text.split(" < ")[0] for text in sleeps["stackTrace"].to_pylist()} == {"java.lang.Thread.sleep"}


def test_what_cannot_be_read_is_left_out_and_said() -> None:
    whole = plain("workload-jdk17.jfr.gz")
    old = plain("2-7u40.jfr")
    with jfr.read(old + whole + whole[:-1000] + b"", threads=2) as chunks:
        read = list(chunks)
    assert [chunk.header.offset for chunk in read] == [len(old), len(old) + len(whole)]
    assert [note.code for note in chunks.coverage.notes] == ["unsupported_version", "cut"]
    assert [note.code for note in read[1].coverage.notes] == ["cut"]
    assert read[0].coverage.complete
    assert read[1].coverage.notes[0].lost["bytes"] >= 1000


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the recording is empty"),
        (b"FLR", "cut within its first header, 3 bytes are left"),
        (b"Dear diary" * 20, "not a JFR recording"),
        (plain("2-7u40.jfr"), "JFR format 0.9"),
        ((DATA / "workload-jdk17.jfr.gz").read_bytes()[:30], "the gzip data end too early"),
        (plain("workload-jdk17.jfr.gz")[:3000], "before the description of its events"),
    ],
)
def test_nothing_that_can_be_read_is_an_error(data: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "given.jfr"
    file.write_bytes(data)
    with pytest.raises(InputError, match=words) as caught:
        list(jfr.read(file))
    assert caught.value.path == str(file)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no such file"):
        next(jfr.read("nowhere.jfr"))


def test_leaving_early_closes_the_file(tmp_path: Path) -> None:
    data = plain(SEVERAL)
    file = tmp_path / "recording"
    file.write_bytes(data * 5)
    chunks = jfr.read(file, threads=2)
    assert next(chunks).header.offset == 0
    chunks.close()
    assert list(chunks) == []


def test_reading_needs_neither_numpy_nor_arrow() -> None:
    script = (
        "import sys\nfrom emberscope import jfr\n"
        f"chunks = list(jfr.read({str(DATA / 'workload-jdk17.jfr.gz')!r}))\n"
        "print(len(chunks), sorted({'numpy', 'pyarrow', 'click'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "1 []\n"
