"""Every kind of events that Flight Recorder can record, on each JDK that is here, and what the reader makes of it."""

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from emberscope.recorder.settings import KINDS
from emberscope.sources.recording import load_recording
from emberscope.tables.run import Run
from tests.jvm import toolchain

NEWEST = max(toolchain.jdk_homes(), key=toolchain.major)
each_jdk = pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
KEPT = "io.emberscope.EveryKind.makesKept"


def recorded(home: Path, store: Path, classes: Path, *options: str) -> tuple[dict[str, Any], Run]:
    said = json.loads(toolchain.java(home, *options, "io.emberscope.EveryKind", store, classes=classes))
    return said, load_recording(str(next(store.rglob("executor-7"))))


def stacks_of(run: Run, event: str) -> list[tuple[str, ...]]:
    """The frames of each sample, the leaf first."""
    parents, frames = (run.tables["stacks"][name].to_pylist() for name in ("parent", "frame"))
    names = run.tables["frames"]["name"].to_pylist()
    samples = run.tables["samples"].filter(pc.equal(run.tables["samples"]["event"], event))
    found = []
    for node in samples["stack"].to_pylist():
        stack = []
        while node > 0:
            stack.append(names[frames[node]])
            node = parents[node]
        found.append(tuple(stack))
    return found


def series(run: Run, name: str) -> list[dict[str, Any]]:
    return run.tables["series"].filter(pc.equal(run.tables["series"]["name"], name)).to_pylist()


@each_jdk
def test_each_kind_is_recorded_and_read(home: Path, classes: Path, tmp_path: Path) -> None:
    said, run = recorded(home, tmp_path, classes)
    has_alloc = toolchain.major(home) >= 16
    assert said["events"] == [kind for kind in KINDS if kind != "wall" and (has_alloc or kind != "alloc")]
    assert [problem["message"].partition(":")[0] for problem in said["problems"]] == [
        "of native memory only direct buffers are recorded"
    ]

    waits = run.tables["samples"].filter(pc.equal(run.tables["samples"]["event"], "io")).to_pylist()
    assert {"file_write", "file_force"} <= {wait["variant"] for wait in waits}
    assert all(wait["value"] >= 1_000_000 for wait in waits), "the threshold is a millisecond"
    assert any("io.emberscope.EveryKind.writes" in stack for stack in stacks_of(run, "io"))

    live = [stack for stack in stacks_of(run, "live") if stack[0] == KEPT]
    looked_at = [facts.event_counts["jdk.OldObjectSample"] for facts in run.recordings]
    assert looked_at == sorted(looked_at), "each look tells of all that lives"
    assert 80 <= len(live) <= 120, "a hundred and twenty were made, and each counts once"

    operations = {point["label"] for point in series(run, "vm_operation_ms")}
    assert "GC_HeapInspection" in operations
    assert all(point["value"] >= 1 for point in series(run, "vm_operation_ms"))
    for name in ("direct_used_bytes", "jit_compilations", "jit_total_ms", "code_cache_free_bytes", "classes_loaded"):
        assert series(run, name), name
    marks = run.tables["marks"].to_pylist()
    assert {"compilation", "class_load"} <= {mark["mark"] for mark in marks}
    assert all(mark["name"] for mark in marks if mark["mark"] in ("compilation", "class_load"))

    looks = run.tables["heap_classes"]
    count = len(pc.unique(looks["time_ns"]))
    assert count >= 3, "one for each round, and those that the recorder took by itself"
    by_time = looks.group_by("time_ns").aggregate([("size_bytes", "sum")]).sort_by("time_ns")
    assert by_time["size_bytes_sum"].to_pylist() == [
        point["value"] for point in sorted(series(run, "heap_look_bytes"), key=lambda point: point["time_ns"])
    ], "named classes and the rest are all of it"
    of_bytes = looks.filter(pc.equal(looks["object_class"], "byte[]")).sort_by("time_ns")["size_bytes"].to_pylist()
    assert of_bytes[-1] - of_bytes[0] >= 80 * (1 << 18), "two times forty arrays of 256 KiB"
    names = looks["object_class"].to_pylist()
    assert names.count(None) == count
    assert not any("*" in name for name in names if name), "no name is hidden as another's text"


@pytest.mark.skipif(toolchain.major(NEWEST) < 22, reason="needs a JDK that tells what it takes itself")
def test_native_memory_of_the_jvm_itself_where_it_keeps_account(classes: Path, tmp_path: Path) -> None:
    said, run = recorded(NEWEST, tmp_path, classes, "-XX:NativeMemoryTracking=summary")
    assert said["problems"] == []
    assert {"Java Heap", "Class"} <= {point["label"] for point in series(run, "jvm_native_type_committed_bytes")}


def test_looks_at_the_heap_take_no_more_than_their_share(classes: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.HeapLooks", classes=classes))
    assert said["most"] <= 0.005
    assert said["looks"] > 1000
    assert said["closest_ms"] >= 60_000
