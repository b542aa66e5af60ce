"""A user's own recording in the same JVM: it goes on as it was, and nothing that it alone asked for is shipped."""

import json
import subprocess
from pathlib import Path

import pytest

from emberscope.jfr.recording import read_recording
from tests.jvm import toolchain

SECRET = "correct-horse-battery"


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: home.name)
def test_a_users_recording_is_untouched_and_stays_private(home: Path, classes: Path, tmp_path: Path) -> None:
    users = tmp_path / "users.jfr"
    said = toolchain.java(
        home,
        f"-Dmy.password={SECRET}",
        f"-XX:StartFlightRecording=settings=profile,filename={users},dumponexit=true",
        "io.emberscope.BesideAnotherRecording",
        tmp_path / "store",
        SECRET,
        classes=classes,
        environment={"MY_TOKEN": SECRET},
    )
    facts = json.loads(said)
    assert facts["recordings"] == 1
    assert facts["state"] == "RUNNING"
    assert facts["same_settings"] is True
    assert [problem["where"] for problem in facts["problems"]] == ["depth"]

    events = read_recording(users.read_bytes(), "users.jfr").facts.event_counts
    assert events["shop.Order"] == 250, "the user's file has all events, those from before and after ours too"
    assert events["jdk.ProcessStart"] >= 15  # Hadoop starts one of its own
    for word in ("my.password", "MY_TOKEN", SECRET):
        assert word.encode() in users.read_bytes()

    shipped = sorted((tmp_path / "store").rglob("*.jfr"))
    assert len(shipped) == 3
    tasks = set()
    for path in shipped:
        data = path.read_bytes()
        assert SECRET.encode() not in data
        assert b"MY_TOKEN" not in data
        ran = subprocess.run([home / "bin" / "jfr", "summary", path], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        recording = read_recording(data, path.name)
        counts = recording.facts.event_counts
        manifest = json.loads(path.with_suffix(".json").read_text())
        assert 0 < counts["emberscope.Withheld"] <= manifest["withheld"]
        assert "shop.Order" not in counts
        assert "jdk.ProcessStart" not in counts
        assert not ("jdk.CPUTimeSample" in counts and "jdk.ExecutionSample" in counts), "CPU would count twice"
        spans = recording.spans.to_pylist()
        assert {span["description"] for span in spans} == {"a description of this very job, für alle"}
        tasks |= {span["task_id"] for span in spans if span["end_ns"] is not None}
    assert tasks == {100 * stage + task for stage in range(3) for task in range(20)}


def test_a_broken_chunk_is_passed_or_refused_and_nothing_else(classes: Path, tmp_path: Path) -> None:
    home = toolchain.jdk_homes()[0]
    users = tmp_path / "users.jfr"
    flags = f"-XX:StartFlightRecording=settings=profile,filename={users}"
    toolchain.java(home, flags, "io.emberscope.BesideAnotherRecording", tmp_path, SECRET, classes=classes)
    chunk = min(tmp_path.rglob("executor-7/*.jfr"))
    counts = json.loads(toolchain.java(home, "io.emberscope.BrokenChunks", chunk, "1000", classes=classes))
    assert counts["passed"] + counts["refused"] == 1000
    assert min(counts.values()) > 0
