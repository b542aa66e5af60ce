"""Parts of the recorder alone in a JVM: the CPU sampler that takes over, other file systems, which executors."""

import json
from pathlib import Path

import pytest

from emberscope.jfr.recording import read_recording
from tests.jvm import toolchain

NEWEST = max(toolchain.jdk_homes(), key=toolchain.major)


@pytest.mark.skipif(toolchain.major(NEWEST) < 25, reason="needs a JDK with the CPU-time sampler")
def test_where_the_cpu_time_sampler_is_silent_the_older_one_takes_over(classes: Path, tmp_path: Path) -> None:
    found = {}
    for way in ("working", "silent", "late"):
        store = tmp_path / way
        said = toolchain.java(NEWEST, "io.emberscope.SilentCpuSampler", store, way, classes=classes)
        chunks = [read_recording(path.read_bytes(), path.name) for path in sorted(store.rglob("*.jfr"))]
        counts = [chunk.facts.event_counts for chunk in chunks]
        cpu = [(each.get("jdk.CPUTimeSample", 0) > 0, each.get("jdk.ExecutionSample", 0) > 0) for each in counts]
        found[way] = (cpu, [problem["message"] for problem in json.loads(said)["problems"]])
    assert found["working"] == ([(True, False)] * 3, [])
    assert found["late"] == ([(False, False), (True, False), (True, False)], []), "taken over from another engine"
    cpu, problems = found["silent"]
    assert cpu == [(False, False), (False, True), (False, True)] or cpu == [
        (False, False),
        (False, False),
        (False, True),
    ]
    assert problems == ["jdk.CPUTimeSample is silent on this host, so the older sampler is used"]


def test_a_run_is_written_to_any_file_system_that_hadoop_knows(classes: Path, tmp_path: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.OtherFileSystem", tmp_path, classes=classes))
    assert said == {"directory": f"other://{tmp_path}/__group/app_1/1".replace("__", "__"), "opened": 1, "open": 0}
    objects = tmp_path / "objects"
    assert {path.name: path.read_text() for path in objects.rglob("*") if path.is_file()} == {"whole": "second"}
    files = [path for path in (tmp_path / "__group").rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["1-000000.json"]
    assert files[0].read_text() == "second", "a file from an earlier try is replaced"


def test_the_choice_of_executors_is_a_fair_share_and_always_the_same(classes: Path) -> None:
    def chosen(app: str, fraction: str) -> str:
        return toolchain.java(NEWEST, "io.emberscope.ChosenExecutors", app, fraction, "5000", classes=classes)

    first = chosen("app-20260101000000-0000", "0.1")
    assert first == chosen("app-20260101000000-0000", "0.1")
    assert first != chosen("app-20260101000000-0001", "0.1")
    assert 0.08 < first.count("1") / 5000 < 0.12
    assert chosen("app-20260101000000-0000", "0") == "11" + "0" * 4998, "the first two always are"
    assert chosen("app-20260101000000-0000", "1") == "1" * 5000


def test_the_process_is_known_by_its_number_and_its_options(classes: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "-Dour.option=x", "io.emberscope.OwnProcess", classes=classes))
    assert said["pid"] == said["really"]
    assert "-Dour.option=x" in said["options"]


def test_an_engine_that_fails_half_started_is_closed(classes: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.HalfStarted", classes=classes))
    once = {"runs": False, "closed": 1, "problems": 1}
    assert said == {"exception": once, "error": once}


def test_a_setting_is_parsed_once_however_often_it_is_read(classes: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.ReadTwice", classes=classes))
    problems = {problem["message"].split("=")[0]: problem["count"] for problem in said.pop("problems")}
    assert problems == {"spark.emberscope.budget.free": 1, "spark.emberscope.chunk.seconds": 1}
    assert said == {"free": 128 << 20, "disk": 3 << 20, "chunk": 30, "cpu": 7, "fraction": 1, "enabled": True}


def test_the_end_of_one_application_does_not_take_its_spans_from_the_next(classes: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.TwoApplications", classes=classes))
    assert said == {"writing": 1, "standing_in": 1, "after": 0}
