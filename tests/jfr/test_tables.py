"""Tables of events and constants: names, types, units, references, stacks."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from emberscope import jfr
from emberscope.errors import InputError
from emberscope.redact import REPLACEMENT
from tests.jfr import writer
from tests.jfr.recordings import DATA, plain

RECORDINGS = sorted(path.name for path in DATA.glob("*.jfr.gz"))


def only(recording: str | bytes) -> jfr.Chunk:
    (chunk,) = jfr.read(DATA / recording if isinstance(recording, str) else recording)
    return chunk


def rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows with times as numbers."""
    for i, field in enumerate(table.schema):
        if pa.types.is_temporal(field.type):
            table = table.set_column(i, field.name, table[field.name].cast(pa.int64()))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_type_of_real_recordings_is_a_sound_table(name: str) -> None:
    for chunk in jfr.read(DATA / name):
        for event, count in chunk.event_counts.items():
            for stacks in ("text", "frames"):
                table = chunk.table(event, stacks=stacks)  # type: ignore[arg-type]
                table.validate(full=True)
                assert table.num_rows == count
                assert table.schema.metadata[b"event"] == event.encode()
            pieces = list(chunk.tables.pieces(event))
            assert pa.concat_tables(pieces).num_rows == count
        for kind in chunk.metadata.types.values():
            if kind.id in chunk.layouts and kind.id not in chunk.metadata.event_ids:
                pool = chunk.pool(kind.name)
                pool.validate(full=True)
                assert pool.num_rows == chunk.rows(kind.name)
                assert pool["key"].null_count == 0


def test_a_table_has_the_fields_types_and_units_of_the_event() -> None:
    table = only("workload-jdk25.jfr.gz").table("jdk.GCHeapSummary")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("startTime", "timestamp[ns, tz=UTC]"),
        ("gcId", "uint32"),
        ("when", "dictionary<values=string, indices=int32, ordered=0>"),
        *((f"heapSpace.{name}", "uint64") for name in ("start", "committedEnd", "committedSize")),
        *((f"heapSpace.{name}", "uint64") for name in ("reservedEnd", "reservedSize")),
        ("heapUsed", "uint64"),
    ]
    assert table.schema.metadata == {
        b"event": b"jdk.GCHeapSummary",
        b"label": b"Heap Summary",
        b"category": b"Java Virtual Machine / GC / Heap",
    }
    assert table.schema.field("heapUsed").metadata == {
        b"label": b"Heap Used",
        b"description": b"Bytes allocated by objects in the heap",
        b"unit": b"bytes",
    }
    assert table.schema.field("heapSpace.start").metadata[b"unit"] == b"address"
    assert set(table["when"].to_pylist()) == {"Before GC", "After GC"}
    assert 0 < table["heapUsed"][0].as_py() < 128 << 20


def test_threads_classes_and_stacks() -> None:
    chunk = only("workload-jdk25.jfr.gz")
    table = chunk.table("jdk.ObjectAllocationSample")
    first = rows(table.slice(0, 1))[0]
    assert first["eventThread.javaName"] == "JFR Periodic Tasks"
    assert first["eventThread.group"] == "main"
    assert first["objectClass"] == "java.util.ArrayList$Itr"
    assert first["stackTrace"].startswith(
        "java.util.ArrayList.iterator:1030 < jdk.jfr.internal.periodic.PeriodicEvents"
    )
    assert first["stackTrace"].endswith(" < java.lang.Thread.runWith:1487 < java.lang.Thread.run:1474")
    label = table.schema.field("eventThread.javaName").metadata[b"label"]
    assert label == b"Event Thread: Java Thread Name"
    for row in rows(chunk.table("jdk.ObjectAllocationSample", stacks="frames")):
        told = [f"{f['method']}:{f['lineNumber']}" if f["lineNumber"] > 0 else f["method"] for f in row["stackTrace"]]
        assert " < ".join(told) in table["stackTrace"].to_pylist()
        assert {frame["type"] for frame in row["stackTrace"]} <= {"JIT compiled", "Interpreted", "Inlined", "Native"}


def test_a_pool_has_all_fields_and_the_keys_that_events_hold() -> None:
    chunk = only("workload-jdk17.jfr.gz")
    threads = {row["key"]: row for row in rows(chunk.pool("java.lang.Thread"))}
    keys = chunk.numbers("jdk.ThreadPark", "eventThread") or chunk.numbers("jdk.ObjectAllocationSample", "eventThread")
    assert keys is not None
    name = "jdk.ThreadPark" if chunk.rows("jdk.ThreadPark") else "jdk.ObjectAllocationSample"
    expected = [threads[key]["javaName"] for key in keys]
    assert chunk.table(name)["eventThread.javaName"].to_pylist() == expected
    assert chunk.pool("jdk.types.Symbol").column_names == ["key", "string"]
    with pytest.raises(KeyError, match="no constants"):
        chunk.pool("jdk.CPULoad")


def test_references_to_what_has_one_field_are_that_field() -> None:
    chunk = next(jfr.read(DATA / "FastSlow_2024_01_16_180855.jfr.gz"))
    table = chunk.table("jdk.ExecutionSample")
    assert set(table["state"].to_pylist()) == {"STATE_RUNNABLE"}
    assert "jdk.internal.agent.Agent.startLocalManagementAgent:318" in table["stackTrace"].to_pylist()[1]


class TestMade:
    """What no JVM at hand writes."""

    LONG, INT, TEXT, BOOLEAN, BYTE, NODE, EVENT, POINT = 1, 2, 3, 4, 5, 20, 30, 21

    def chunk(self, *fields: str) -> writer.Chunk:
        made = writer.Chunk()
        names = ("long", "int", "java.lang.String", "boolean", "byte")
        for number, name in enumerate(names, 1):
            made.type(number, name)
        made.type(writer.TIMESPAN, "jdk.jfr.Timespan")
        made.type(self.NODE, "my.Node", "label:3", "next:20*")
        made.type(self.POINT, "my.Point", "x:2", "y:2")
        made.type(self.EVENT, "my.Event", *fields, super_type=writer.EVENT)
        return made

    def table(self, made: writer.Chunk, **header: int) -> pa.Table:
        table = only(made.finish(**header)).table("my.Event")
        table.validate(full=True)
        return table

    def test_lists_of_values_structs_and_references(self) -> None:
        made = self.chunk("numbers:2[]", "points:21[]", "nodes:20*[]", "after:1")
        made.checkpoint((self.NODE, [made.long(7) + made.text("seven") + made.long(0)]))
        made.event(
            self.EVENT,
            made.int(2) + made.int(-1) + made.int(5)  # numbers
            + made.int(1) + made.int(3) + made.int(4)  # points
            + made.int(2) + made.long(7) + made.long(8)  # nodes
            + made.long(9),
        )  # fmt: skip
        made.event(self.EVENT, made.int(0) * 3 + made.long(10))
        assert rows(self.table(made)) == [
            {
                "numbers": [-1, 5],
                "points": [{"x": 3, "y": 4}],
                "nodes": [{"label": "seven"}, {"label": None}],
                "after": 9,
            },
            {"numbers": [], "points": [], "nodes": [], "after": 10},
        ]

    def test_a_circle_of_references_is_cut(self) -> None:
        made = self.chunk("node:20*")
        made.checkpoint(
            (self.NODE, [made.long(n) + made.text(f"n{n}") + made.long(3 - n) for n in (1, 2)]),
        )
        for key in (1, 2, 0, 3):
            made.event(self.EVENT, made.long(key))
        chunk = only(made.finish())
        assert rows(chunk.table("my.Event")) == [{"node.label": label} for label in ("n1", "n2", None, None)]
        assert chunk.tables.unresolved == 1, "the key 0 stands for nothing, the key 3 leads nowhere"

    def test_times_that_are_not_set_without_end_or_beyond_reason_are_null(self) -> None:
        made = self.chunk("startTime:1", "duration:1", "age:1@MILLISECONDS", "wait:1@FORTNIGHTS")
        lowest, highest = -(1 << 63), (1 << 63) - 1
        made.event(self.EVENT, made.long(100) + made.long(28) + made.long(-5) + made.long(1))
        for value in (lowest, highest):
            made.event(self.EVENT, made.long(lowest) + made.long(value) + made.long(value // 2) + made.long(value))
        table = self.table(made, start_ns=1_000, start_ticks=72, hertz=2_800_000_000)
        assert rows(table) == [
            {"startTime": 1010, "duration": 10, "age": -5_000_000, "wait": 1},
            {"startTime": None, "duration": None, "age": None, "wait": lowest},
            {"startTime": None, "duration": None, "age": None, "wait": highest},
        ]
        assert table.schema.field("age").type == pa.duration("ns")
        assert table.schema.field("wait").metadata[b"unit"] == b"fortnights"

    def test_secrets_are_hidden_unless_they_are_asked_for(self) -> None:
        made = self.chunk("key:3", "value:3", "clientSecret:3", "note:3", "args:3[]")
        texts = [
            ("AWS_SECRET_ACCESS_KEY", "TOPSECRET", "", "clean", ["-Dspark.my.password=TOPSECRET", "-Xmx1g"]),
            ("PWD", "/home/me", "TOPSECRET", "https://me:TOPSECRET@host/x", []),
            (
                "JDBC_URL",
                "jdbc:postgresql://db/x?user=me&password=TOPSECRET",
                "",
                "Authorization: Bearer " + "a" * 20,
                [],
            ),
            ("DB_PASS", "", "", "", []),
        ]
        for key, value, secret, note, arguments in texts:
            body = b"".join(map(made.text, (key, value, secret, note)))
            made.event(self.EVENT, body + made.int(len(arguments)) + b"".join(map(made.text, arguments)))
        chunk = only(made.finish())
        table = chunk.table("my.Event")
        assert chunk.tables.redacted == 6
        assert "TOPSECRET" not in str(table.to_pylist())
        assert table["value"].to_pylist() == [
            REPLACEMENT,
            "/home/me",
            f"jdbc:postgresql://db/x?user=me&password={REPLACEMENT}",
            "",
        ]
        assert table["args"].to_pylist()[0] == [f"-Dspark.my.password={REPLACEMENT}", "-Xmx1g"]
        raw = chunk.table("my.Event", redact=False)
        assert raw["value"].to_pylist() == [value for _, value, *_ in texts]
        assert raw["clientSecret"].to_pylist()[1] == "TOPSECRET"


def test_a_chunk_is_gone_when_nobody_holds_it() -> None:
    chunk = only("workload-jdk17.jfr.gz")
    for name in chunk.event_counts:
        chunk.table(name)
    gc.collect()
    del chunk
    assert gc.collect() == 0, "circles keep chunks in memory until somebody looks for garbage"


def test_a_damaged_recording_gives_sound_tables() -> None:
    whole = plain("workload-jdk17.jfr.gz")
    read = 0
    for place in range(5000, len(whole), len(whole) // 40):
        damaged = whole[:place] + bytes(255 - byte for byte in whole[place : place + 8]) + whole[place + 8 :]
        try:
            chunks = list(jfr.read(damaged))
        except InputError:
            continue
        for chunk in chunks:
            for name in chunk.event_counts:
                if chunk.metadata.by_name[name].id in chunk.layouts:
                    chunk.table(name).validate(full=True)
                    read += 1
    assert read > 100


def jfr_tool() -> str | None:
    java = os.environ.get("JAVA_HOME", "") and os.path.join(os.environ["JAVA_HOME"], "bin", "java")
    java = java or shutil.which("java")
    tool = Path(os.path.realpath(java)).parent / "jfr" if java else None
    return str(tool) if tool and tool.exists() else None


FOREVER = "PT2562047788015H12M55.807S"
"""How the tool prints a time span without end in milliseconds."""
PRINTED = ("jdk.GCHeapSummary", "jdk.GarbageCollection", "jdk.CPULoad", "jdk.ActiveRecording", "jdk.ThreadStart")


def printed(tool: str, file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    command = [tool, "print", "--json", "--events", ",".join(PRINTED), str(file)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    for event in json.loads(said)["recording"]["events"]:
        yield event["type"], event["values"]


@pytest.mark.parametrize("name", ["workload-jdk17.jfr.gz", "full_gc_g1.jfr.gz"])
def test_the_jdks_own_tool_says_the_same(name: str, tmp_path: Path) -> None:
    tool = jfr_tool()
    assert tool is not None, "a JDK is needed"
    file = tmp_path / "plain.jfr"
    file.write_bytes(plain(name))
    chunk = only(name)
    compared = 0
    expected: dict[str, list[dict[str, Any]]] = {}
    for event, values in printed(tool, file):
        expected.setdefault(event, []).append(values)
    for event, events in expected.items():
        ours = sorted(rows(chunk.table(event)), key=lambda row: row["startTime"])
        for row, values in zip(ours, sorted(events, key=lambda v: instant(v["startTime"])), strict=True):
            for path, value in flat(values):
                if path in row and not path.startswith("stackTrace"):
                    compared += 1
                    assert alike(row[path], value), (event, path, row[path], value)
    assert compared > 30


def flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def instant(text: str) -> int:
    """Epoch ns of an ISO time with up to nine digits after the dot."""
    found = re.fullmatch(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", text)
    assert found is not None
    import datetime

    whole = datetime.datetime.fromisoformat(text[:19] + found[8].replace("Z", "+00:00"))
    return int(whole.timestamp()) * 10**9 + int((found[7] or "0").ljust(9, "0"))


def alike(ours: Any, theirs: Any) -> bool:
    if theirs == FOREVER:
        return ours is None
    if isinstance(ours, int) and isinstance(theirs, str) and theirs.startswith("PT"):
        found = re.fullmatch(r"PT(?:(-?\d+)M)?(?:(-?\d+)(?:\.(\d+))?S)?", theirs)
        assert found is not None, theirs
        seconds = 60 * int(found[1] or 0) + int(found[2] or 0)
        return abs(ours - seconds * 10**9 - int((found[3] or "0").ljust(9, "0"))) <= 1000
    if isinstance(ours, int) and isinstance(theirs, str) and "T" in theirs:
        return abs(ours - instant(theirs)) <= 1000
    if isinstance(ours, float) and isinstance(theirs, int | float):
        return abs(ours - theirs) <= 1e-6 * abs(theirs)
    return bool(ours == theirs)
