"""`emberscope events`: one type of event as CSV, JSON or Parquet, and what types there are."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import struct
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from emberscope import jfr
from emberscope.cli.main import exit_code
from emberscope.redact import REPLACEMENT
from tests.jfr import writer
from tests.sources.stored import add_application, add_chunk, recording

DATA = Path(__file__).parent.parent / "data" / "jfr"
JDK25 = str(DATA / "workload-jdk25.jfr.gz")
JDK17 = str(DATA / "workload-jdk17.jfr.gz")
ASYNC = str(DATA / "FastSlow_2024_01_16_180855.jfr.gz")


def call(capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, str, str]:
    code = exit_code(["events", *words])
    out, err = capfdbinary.readouterr()
    assert b"Traceback" not in err
    return code, out.decode(), err.decode()


def parsed(text: str) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    document: dict[str, Any] = json.loads(text, parse_float=Decimal, parse_constant=refuse)
    assert next(iter(document)) == "schema"
    assert document["schema"] == "emberscope.events/1"
    return document


def test_the_types_of_a_recording(capfdbinary):
    code, out, err = call(capfdbinary, JDK25)
    assert (code, err) == (0, "")
    assert out.startswith(f"{JDK25}: 924 events of 11 types\n")
    assert "  8  jdk.GCHeapSummary (Heap Summary)\n       startTime, gcId, when, heapSpace.start [address]" in out
    assert "heapUsed [bytes]" in out
    assert out.index("jdk.ActiveSetting") < out.index("jdk.GCHeapSummary")


def test_the_types_as_a_document(capfdbinary):
    code, out, _ = call(capfdbinary, JDK25, "--json")
    assert code == 0
    document = parsed(out)
    (chunk,) = jfr.read(JDK25)
    assert {kind["name"]: kind["events"] for kind in document["types"]} == chunk.event_counts
    (heap,) = [kind for kind in document["types"] if kind["name"] == "jdk.GCHeapSummary"]
    assert heap["label"] == "Heap Summary"
    assert heap["category"] == "Java Virtual Machine / GC / Heap"
    assert heap["columns"][-1] == {"name": "heapUsed", "type": "uint64", "unit": "bytes", "label": "Heap Used"}
    assert document["coverage"] == {"complete": True, "notes": []}


def test_csv(capfdbinary):
    code, out, err = call(capfdbinary, JDK25, "--type", "jdk.GCHeapSummary")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    (chunk,) = jfr.read(JDK25)
    table = chunk.table("jdk.GCHeapSummary")
    assert list(rows[0]) == table.column_names
    assert [int(row["heapUsed"]) for row in rows] == table["heapUsed"].to_pylist()
    assert rows[0]["startTime"] == "2026-11-30T08:47:41.195794848Z"
    assert rows[0]["when"] == "Before GC"


def test_json_is_exact_to_the_nanosecond(capfdbinary):
    code, out, err = call(capfdbinary, JDK25, "--type", "ExecutionSample", "--format", "json")
    assert (code, err) == (0, "")
    document = parsed(out)
    (chunk,) = jfr.read(JDK25)
    table = chunk.table("jdk.ExecutionSample", stacks="frames")
    assert document["type"] == "jdk.ExecutionSample"
    assert [column["name"] for column in document["columns"]] == table.column_names
    assert document["columns"][0]["unit"] == "ms since epoch"
    times = table["startTime"].cast(pa.int64()).to_pylist()
    assert [row["startTime"] * 1_000_000 for row in document["rows"]] == times
    for name in ("stackTrace", "sampledThread.javaName", "stackTrace.truncated", "state"):
        assert [row[name] for row in document["rows"]] == table[name].to_pylist()


def test_parquet_has_types_units_and_row_groups(capfdbinary, tmp_path):
    target = tmp_path / "samples.parquet"
    assert call(capfdbinary, ASYNC, "--type", "jdk.ExecutionSample", "-o", str(target)) == (0, "", "")
    table = pq.read_table(target)
    expected = [chunk.table("jdk.ExecutionSample", stacks="frames") for chunk in jfr.read(ASYNC)]
    assert pq.ParquetFile(target).num_row_groups == sum(1 for part in expected if part.num_rows)
    assert table["stackTrace"].to_pylist() == [s for part in expected for s in part["stackTrace"].to_pylist()]
    assert str(table.schema.field("startTime").type) == "timestamp[ns, tz=UTC]"
    assert table.schema.metadata[b"label"] == b"Method Profiling Sample"
    code, out, _ = call(capfdbinary, JDK17, "--type", "CPULoad", "--format", "parquet", "-o", str(target))
    assert (code, out) == (0, "")
    assert pq.read_table(target).schema.field("jvmUser").metadata[b"unit"] == b"ratio"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_the_ending_of_the_file_chooses_and_standard_output_is_the_same(form, capfdbinary, tmp_path):
    target = tmp_path / f"heap.{form}"
    assert exit_code(["events", JDK17, "--type", "GCHeapSummary", "-o", str(target)]) == 0
    assert exit_code(["events", JDK17, "--type", "GCHeapSummary", "--format", form]) == 0
    assert capfdbinary.readouterr().out == target.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_recordings_of_different_jdks_are_one_table(capfdbinary, tmp_path):
    for source in (JDK17, JDK25):
        (tmp_path / Path(source).name).write_bytes(Path(source).read_bytes())
    (tmp_path / "_SUCCESS").touch()
    code, out, err = call(capfdbinary, str(tmp_path), "--type", "ObjectAllocationSample", "--json")
    assert (code, err) == (0, "")
    document = parsed(out)
    parts = [next(jfr.read(source)).table("jdk.ObjectAllocationSample") for source in (JDK17, JDK25)]
    assert "eventThread.virtual" not in parts[0].column_names, "JDK 17 knows no virtual threads"
    assert document["columns"][0] == {"name": "recording", "type": "string", "unit": None, "label": None}
    files = [Path(JDK17).name] * len(parts[0]) + [Path(JDK25).name] * len(parts[1])
    assert [row["recording"] for row in document["rows"]] == files
    virtual = [row["eventThread.virtual"] for row in document["rows"]]
    assert virtual == [None] * len(parts[0]) + parts[1]["eventThread.virtual"].to_pylist()
    target = tmp_path / "all.parquet"
    assert call(capfdbinary, str(tmp_path), "--type", "ObjectAllocationSample", "-o", str(target))[0] == 0
    assert pq.read_table(target)["eventThread.virtual"].to_pylist() == virtual


def test_version_1_has_its_own_names(capfdbinary):
    old = str(DATA / "MetadataBaseline_9.jfr.gz")
    code, out, _ = call(capfdbinary, old, "--type", "com.oracle.jdk.ThreadSleep")
    assert code == 0
    assert [row["time"] for row in csv.DictReader(io.StringIO(out))] == ["200000000"] * 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([JDK25, "--type", "HeapSummary"], 2, "no event type 'HeapSummary'. Near are jdk."),
        ([JDK25, "--type", "GCHeapSumary"], 2, "jdk.GCHeapSummary"),
        ([JDK25, "--type", "qqqqqq"], 2, "without --type lists what there is"),
        ([JDK25, "--format", "csv"], 2, "Name it with --type"),
        ([JDK25, "-o", "list.parquet"], 2, "Name it with --type"),
        ([JDK25, "--type", "CPULoad", "--json", "--format", "csv"], 2, "cannot both be"),
        ([JDK25, "--type", "CPULoad", "-o", "x.xlsx"], 2, "no format has this ending"),
        ([JDK25, "--type", "CPULoad", "-o", JDK25, "--format", "csv"], 2, "is an input"),
        (["nowhere.jfr"], 3, "no such file"),
        ([str(DATA / "2-7u40.jfr")], 3, "JFR format 0.9"),
        ([str(DATA / "2-7u40.jfr"), "--type", "CPULoad"], 3, "JFR format 0.9"),
        ([str(DATA.parent / "perf" / "sample1.collapsed")], 3, "kind 'collapsed'"),
    ],
)
def test_wrong_calls_and_inputs(words, code, said, capfdbinary):
    got, out, err = call(capfdbinary, *words)
    assert (got, out) == (code, "")
    assert err.startswith("emberscope: ")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize("more", [[], ["--type", "CPULoad"]])
def test_a_document_is_printed_all_the_same(more, capfdbinary):
    for place, words in (("nowhere.jfr", "no such file"), (str(DATA / "2-7u40.jfr"), "JFR format 0.9")):
        code, out, err = call(capfdbinary, place, "--json", *more)
        document = parsed(out)
        assert code == 3
        assert document["rows" if more else "types"] == []
        assert words in err
        assert words in document["coverage"]["notes"][-1]["message"]
        assert not document["coverage"]["complete"]


def test_what_can_be_read_is_written_beside_what_cannot(capfdbinary, tmp_path):
    whole = gzip.decompress(Path(JDK17).read_bytes())
    (tmp_path / "1.jfr").write_bytes(whole)
    (tmp_path / "2.jfr").write_bytes(whole[: len(whole) * 4 // 5])
    (tmp_path / "3.jfr").write_bytes(b"FLR\0")
    code, out, err = call(capfdbinary, str(tmp_path), "--type", "ActiveSetting")
    assert code == 3
    (chunk,) = jfr.read(whole)
    assert out.count("\n") >= 1 + chunk.event_counts["jdk.ActiveSetting"]
    assert out.startswith("recording,startTime,")
    assert "\n1.jfr,2026-" in out
    assert "\n2.jfr,2026-" in out
    assert "3.jfr" in err.splitlines()[-1]
    assert "note: chunk at byte 0: cut" in err


def test_a_run_and_a_store(capfdbinary, tmp_path):
    for app in ("app-1", "app-2"):
        run = tmp_path / "default" / app / "1"
        add_application(run)
        add_chunk(run, "driver", 1, recording("workload-jdk17"))
        add_chunk(run, "1", 1, recording("workload-jdk25"))
    for place, said in ((run, ""), (tmp_path, "note: the store holds 2 runs; this is the newest\n")):
        code, out, err = call(capfdbinary, str(place), "--type", "CPULoad")
        assert (code, err) == (0, said)
        names = {row["recording"].partition("/")[0] for row in csv.DictReader(io.StringIO(out))}
        assert names == {"driver-driver", "executor-1"}


def test_standard_input():
    def events(data: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "emberscope.cli.main", "events", "-", *words]
        return subprocess.run(command, input=data, capture_output=True, check=False)

    given = Path(JDK25).read_bytes()
    done = events(given, "--type", "GCHeapSummary")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 9
    done = events(gzip.decompress(given)[:-500], "--type", "GCHeapSummary", "--json")
    assert done.returncode == 0
    assert [note["where"] for note in parsed(done.stdout.decode())["coverage"]["notes"]] == ["standard input"]
    done = events(b"FLR")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"emberscope: standard input: ")


def test_a_type_without_events_is_a_header(capfdbinary):
    code, out, err = call(capfdbinary, JDK25, "--type", "jdk.ThreadDump")
    assert (code, out, err) == (0, "startTime,result\n", "")
    code, out, err = call(capfdbinary, JDK25, "--type", "jdk.ThreadDump", "--json")
    assert parsed(out)["rows"] == []


class TestMade:
    def recording(self, *values: bytes, fields: tuple[str, ...]) -> bytes:
        made = writer.Chunk()
        for number, name in enumerate(("long", "java.lang.String", "double", "boolean", "float"), 1):
            made.type(number, name)
        made.type(writer.TIMESPAN, "jdk.jfr.Timespan")
        made.type(30, "my.Odd", *fields, super_type=writer.EVENT)
        made.checkpoint()
        for value in values:
            made.event(30, value)
        return made.finish(start_ns=-5, start_ticks=0)

    def test_odd_values(self, capfdbinary, tmp_path):
        chunk = writer.Chunk()
        texts = ['a "b", c\r\nd', "", " x", "grüße ∑ 😀", "plain"]
        numbers = [math.nan, math.inf, -0.0, 1e300, 0.1]
        rows = [
            chunk.long(time)
            + chunk.long(-1)
            + chunk.text(text)
            + struct.pack(">d", number)
            + b"\x01"
            + struct.pack(">f", 0.1)
            for time, text, number in zip([0, 5, 6, 10**18, -(1 << 63)], texts, numbers, strict=True)
        ]
        rows.append(chunk.long(7) + chunk.long(2) + b"\x00" + struct.pack(">d", 1) + b"\x00" + struct.pack(">f", 1))
        place = tmp_path / "odd.jfr"
        fields = ("startTime:1", "duration:1", "text:2", "number:3", "flag:4", "small:5")
        place.write_bytes(self.recording(*rows, fields=fields))
        _, out, _ = call(capfdbinary, str(place), "--type", "my.Odd", "--json")
        got = parsed(out)["rows"]
        assert [row["text"] for row in got] == [*texts, None]
        ms = ["-0.000005", "0.000000", "0.000001", "999999999999.999995", None, "0.000002"]
        assert [row["startTime"] for row in got] == [None if text is None else Decimal(text) for text in ms]
        assert [row["number"] for row in got] == [None, None, 0, Decimal("1e300"), Decimal("0.1"), 1]
        assert [row["duration"] for row in got] == [-1] * 5 + [2]
        assert [row["flag"] for row in got] == [True] * 5 + [False]
        assert got[0]["small"] == Decimal("0.1")
        _, out, _ = call(capfdbinary, str(place), "--type", "Odd")
        lines = list(csv.DictReader(io.StringIO(out, newline="")))
        assert [row["text"] for row in lines] == [*texts, ""]
        assert out.splitlines()[-1].startswith("1970-01-01T00:00:00.000000002Z,2,,1"), "a null is nothing at all"
        assert lines[1]["startTime"] == "1970-01-01T00:00:00.000000000Z"
        assert lines[4]["startTime"] == ""

    @pytest.mark.parametrize("form", ["csv", "json", "parquet"])
    def test_secrets_are_replaced_and_that_is_said(self, form, capfdbinary, tmp_path):
        chunk = writer.Chunk()
        pairs = [("DB_PASSWORD", "TOPSECRET"), ("HOME", "/home/me"), ("OPTS", "-Dx.token=TOPSECRET")]
        place, target = tmp_path / "env.jfr", tmp_path / f"env.{form}"
        values = [chunk.text(key) + chunk.text(value) for key, value in pairs]
        place.write_bytes(self.recording(*values, fields=("key:2", "value:2")))
        before = place.read_bytes()
        code, _, err = call(capfdbinary, str(place), "--type", "Odd", "-o", str(target))
        assert code == 0
        if form == "parquet":
            assert pq.read_table(target)["value"].to_pylist() == [REPLACEMENT, "/home/me", f"-Dx.token={REPLACEMENT}"]
        written = target.read_bytes()
        assert b"TOPSECRET" not in written
        if form == "json":
            (note,) = parsed(written.decode())["coverage"]["notes"]
            assert note["code"] == "redacted"
            assert note["message"].startswith("2 values")
        else:
            assert err == "note: 2 values that look like secrets were replaced\n"
        assert place.read_bytes() == before

    @pytest.mark.parametrize("form", ["csv", "json", "parquet"])
    def test_a_type_without_fields(self, form, capfdbinary, tmp_path):
        place, target = tmp_path / "none.jfr", tmp_path / f"none.{form}"
        place.write_bytes(self.recording(b"", b"", fields=()))
        assert call(capfdbinary, str(place), "--type", "Odd", "-o", str(target)) == (0, "", "")
        if form == "json":
            assert parsed(target.read_text())["columns"] == []

    def test_a_short_name_must_be_of_one_type(self, capfdbinary, tmp_path):
        chunk = writer.Chunk()
        chunk.type(1, "long")
        chunk.checkpoint()
        for number, name in ((30, "my.Thing"), (31, "your.Thing")):
            chunk.type(number, name, "n:1", super_type=writer.EVENT)
            chunk.event(number, chunk.long(number))
        place = tmp_path / "things.jfr"
        place.write_bytes(chunk.finish())
        assert call(capfdbinary, str(place), "--type", "your.thing") == (0, "n\n31\n", "")
        code, out, err = call(capfdbinary, str(place), "--type", "thing")
        assert (code, out) == (2, "")
        assert "is several event types. Give one of my.Thing, your.Thing." in err
