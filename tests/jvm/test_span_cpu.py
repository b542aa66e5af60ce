"""The CPU time that the thread of a task measures where its span starts and ends."""

from pathlib import Path

import pytest

from emberscope.profile.attribute import intervals
from emberscope.sources.recording import load_recording
from tests.jvm import toolchain

MS = 1_000_000


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_a_span_holds_what_its_thread_used_within_it(home: Path, classes: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    in_all_ns = int(toolchain.java(home, "io.emberscope.SpanCpu", store, classes=classes))
    recorded = load_recording(str(store), files=[*map(str, store.rglob("*.jfr"))])
    spans = recorded.tables["spans"].to_pylist()
    assert {span["cpu_ns"] is None for span in spans if span["end_ns"] is None} == {True}
    late, whole = intervals(recorded.tables["spans"]).to_pylist()
    assert (late["task_id"], whole["task_id"]) == (1, 2)
    # The program burns 400 ms before the recorder starts, then 200 ms within the first span, and 50 ms after it.
    assert late["cpu_start_ns"] >= 400 * MS
    assert 200 * MS <= late["cpu_ns"] < in_all_ns - 550 * MS
    assert whole["cpu_start_ns"] >= late["cpu_start_ns"] + late["cpu_ns"] + 50 * MS
    assert 100 * MS <= whole["cpu_ns"] <= in_all_ns - whole["cpu_start_ns"]
