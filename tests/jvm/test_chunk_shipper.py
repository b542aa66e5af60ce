"""What becomes of chunks when the store fails, with made chunks: an engine that keeps the newest three."""

import json
from pathlib import Path
from typing import Any

from tests.jvm import toolchain


def _rounds(classes: Path, *rounds: str) -> tuple[list[dict[str, Any]], list[str], list[dict[str, Any]]]:
    said = json.loads(toolchain.java(toolchain.jdk_homes()[0], "io.emberscope.FailingStore", *rounds, classes=classes))
    manifests = [json.loads(text) for name, text in said["files"].items() if name.endswith(".json")]
    return manifests, [name for name in said["files"] if name.endswith(".jfr")], said["problems"]


def test_each_chunk_is_shipped_once(classes: Path) -> None:
    manifests, chunks, problems = _rounds(classes, "ok", "ok", "ok", "ok", "ok")
    directory = "recordings/executor-1"
    assert chunks == [f"{directory}/{second}000-{second - 1:06d}.jfr" for second in range(1, 6)]
    assert [manifest["sequence"] for manifest in manifests] == [0, 1, 2, 3, 4]
    assert problems == []


def test_a_chunk_that_could_not_be_written_comes_later(classes: Path) -> None:
    manifests, chunks, problems = _rounds(classes, "ok", "fail", "fail", "ok")
    assert [manifest["first_ms"] for manifest in manifests] == [1000, 2000, 3000, 4000]
    assert len(chunks) == 4
    assert manifests[-1]["lost"] == {"chunks": 0, "bytes": 0, "seconds": 0.0}
    assert [(problem["where"], problem["count"]) for problem in problems] == [("ship", 2)]
    assert "No space left on device" in problems[0]["message"]


def test_chunks_that_waited_too_long_are_counted_as_lost(classes: Path) -> None:
    manifests, _, _ = _rounds(classes, "ok", "fail", "fail", "fail", "fail", "fail", "ok")
    assert [manifest["first_ms"] for manifest in manifests] == [1000, 5000, 6000, 7000]
    assert manifests[-1]["lost"] == {"chunks": 3, "bytes": 3 * 72, "seconds": 3.0}


def test_the_last_chunk_is_known_where_the_engine_ended_behind_our_back(classes: Path) -> None:
    manifests, chunks, _ = _rounds(classes, "ok", "ok", "end")
    assert [(manifest["sequence"], manifest["last"]) for manifest in manifests] == [(0, False), (1, True)]
    assert len(chunks) == 2
    manifests, _, _ = _rounds(classes, "ok", "fail", "end")
    assert [(manifest["sequence"], manifest["last"]) for manifest in manifests] == [(0, False), (1, True)]


def test_a_chunk_is_whole_though_what_follows_it_is_cut(classes: Path) -> None:
    manifests, chunks, problems = _rounds(classes, "cut", "ok", "cut")
    assert [manifest["first_ms"] for manifest in manifests] == [1000, 2000, 3000]
    assert len(chunks) == 3
    assert manifests[-1]["lost"] == {"chunks": 0, "bytes": 0, "seconds": 0.0}
    assert [(problem["where"], problem["count"]) for problem in problems] == [("chunk", 2)]


def test_a_clock_that_is_set_back_is_said(classes: Path) -> None:
    manifests, _, problems = _rounds(classes, "ok", "ok", "back")
    assert [manifest["first_ms"] for manifest in manifests] == [1000, 2000, 3000]
    assert [problem["where"] for problem in problems] == ["clock"]
    assert problems[0]["message"].startswith("the clock was set back: what made records")


def test_a_chunk_keeps_its_number_whatever_its_engine_is_called(classes: Path, tmp_path: Path) -> None:
    log = tmp_path / "chunks.log"
    said = json.loads(toolchain.java(toolchain.jdk_homes()[0], "io.emberscope.LoggedChunks", log, classes=classes))
    assert said["numbers"] == [0, 1, 1, 2, True, False, 2, 0, 3]
