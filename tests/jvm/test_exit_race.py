"""The end of a process: Spark's word to finish and SIGTERM come in any order, and nothing is lost."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from emberscope.jfr.recording import read_recording
from tests.jvm import toolchain


def _end(home: Path, classes: Path, store: Path, way: str, delay_ms: int, *flags: str) -> None:
    command = [
        home / "bin" / "java",
        *flags,
        "-cp",
        toolchain.class_path(classes),
        "io.emberscope.ExitRace",
        store,
        way,
    ]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        while not list(store.rglob("*.json")):
            assert process.poll() is None
            time.sleep(0.02)
        process.stdin.write("\n")
        process.stdin.flush()
        said = process.stdout.readline()
        while said.startswith("["):  # the JVM's own word on a recording that the user asked for
            said = process.stdout.readline()
        tasks = int(said)
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM

    manifests = sorted((json.loads(path.read_text()) for path in store.rglob("*.json")), key=lambda m: m["sequence"])
    for engine in ("jfr", "wall-sampler"):
        own = [manifest for manifest in manifests if manifest["engine"] == engine]
        assert [manifest["last"] for manifest in own] == [False] * (len(own) - 1) + [True]
        assert len({manifest["first_ms"] for manifest in own}) == len(own)
    spans = [span for path in store.rglob("*.jfr") for span in read_recording(path.read_bytes(), "").spans.to_pylist()]
    ended = [span["task_id"] for span in spans if span["end_ns"] is not None]
    first = min(ended)
    assert sorted(ended) == list(range(first, tasks)), "from the recording's start on, every task once"


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_the_last_chunk_comes_whichever_word_is_first(home: Path, classes: Path, tmp_path: Path) -> None:
    beside = "-XX:StartFlightRecording=settings=profile"
    _end(home, classes, tmp_path / "word-and-signal", "finish", 0)
    _end(home, classes, tmp_path / "word-then-signal", "finish", 20, beside)
    _end(home, classes, tmp_path / "signal-alone", "signal alone", 0, beside)
