"""async-profiler as an engine, with the real library: what it loses, what it ships, and when it is left alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from emberscope.jfr.recording import read_recording
from emberscope.sources.recording import load_recording
from tests.jvm import async_profiler, toolchain
from tests.jvm.killed import Process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="async-profiler's jar is for Linux here")

SECRET = "correct-horse-battery"
PERIOD_NS = 20_000_000
HOME = toolchain.jdk_homes()[0]


@pytest.fixture
def user() -> Iterator[str]:
    """A user's name that nobody has, so that notes about starts are this test's alone."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    yield name
    shutil.rmtree(f"/var/tmp/emberscope-{name}", ignore_errors=True)


def _rotations(
    home: Path, classes: Path, store: Path, user: str, *settings: str, flags: tuple[str, ...] = (), rotations: int = 1
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """CPU time (ns) of each burning thread, and the problems."""
    given = {"engine": "async-profiler", "engine.path": str(async_profiler.jar()), "events": "cpu,alloc,lock,gc"}
    given |= dict(setting.split("=", 1) for setting in settings)
    said = toolchain.java(
        home,
        f"-Duser.name={user}",
        *flags,
        "io.emberscope.Rotations",
        *(str(store), "2", str(rotations), "400"),
        *(f"spark.emberscope.{name}={value}" for name, value in given.items()),
        classes=classes,
    )
    document = json.loads(said)
    return document["cpu_ns"], document["problems"]


def _chunks(store: Path) -> list[tuple[dict[str, Any], Path]]:
    paths = sorted(store.rglob("*.jfr"), key=lambda path: path.stem.split("-")[1])
    return [(json.loads(path.with_suffix(".json").read_text()), path) for path in paths]


@pytest.mark.campaign
@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: home.name)
def test_no_rotation_loses_more_than_a_sample_and_samples_have_their_task(
    home: Path, classes: Path, tmp_path: Path, user: str
) -> None:
    rotations = 24
    cpu_ns, problems = _rotations(home, classes, tmp_path, user, rotations=rotations)
    assert problems == []
    chunks = _chunks(tmp_path)
    engines = Counter(manifest["engine"].split(" (")[0] for manifest, _ in chunks)
    assert engines == {"jfr": rotations + 1, f"async-profiler {async_profiler.VERSION}": rotations + 1}
    named = {manifest["engine"] for manifest, _ in chunks} - {"jfr"}
    assert named <= {f"async-profiler {async_profiler.VERSION} ({engine})" for engine in ("perf_events", "ctimer")}
    for manifest, path in chunks:
        counts = read_recording(path.read_bytes(), path.name).facts.event_counts
        is_jfr = manifest["engine"] == "jfr"
        assert ("jdk.ActiveRecording" in counts, "jdk.ExecutionSample" in counts and is_jfr) == (False, False)
        assert manifest["sample_period_ns"] == (None if is_jfr else PERIOD_NS)
        assert manifest["events"] == (["gc"] if is_jfr else ["cpu", "alloc", "lock"])

    run = load_recording(str(tmp_path), files=[str(path) for _, path in chunks])
    cpu = run.tables["samples"].filter(pc.equal(run.tables["samples"]["event"], "cpu"))
    assert set(cpu["value"].to_pylist()) == {PERIOD_NS}
    found = Counter(cpu["thread_id"].to_pylist())
    for thread, ns in cpu_ns.items():
        lost = ns / PERIOD_NS - found[int(thread)]
        assert -2 <= lost <= 1 + rotations / 4, "of all rotations together"
    burning = cpu.filter(pc.is_in(cpu["thread_id"], pa.array([int(thread) for thread in cpu_ns])))
    assert burning["in_span"].to_pylist().count(True) >= 0.95 * burning.num_rows


def test_command_line_properties_and_environment_stay_in_the_jvm(classes: Path, tmp_path: Path) -> None:
    raw, filtered = tmp_path / "raw.jfr", tmp_path / "filtered.jfr"
    agent = f"-agentpath:{async_profiler.library(tmp_path)}=start,event=ctimer,interval=1ms,jfr,file={raw}"
    toolchain.java(HOME, agent, f"-Dmy.password={SECRET}", "io.emberscope.Settings", classes=classes)
    assert SECRET.encode() in raw.read_bytes()
    said = json.loads(toolchain.java(HOME, "io.emberscope.FilteredFile", raw, filtered, classes=classes))
    data = filtered.read_bytes()
    assert len(data) == raw.stat().st_size
    for word in (SECRET, "my.password", "io.emberscope.Settings", str(raw), "java.home", "user.dir"):
        assert word.encode() not in data
    before, after = (read_recording(path.read_bytes(), path.name).facts.event_counts for path in (raw, filtered))
    kept = {"jdk.ExecutionSample", "jdk.ActiveSetting"}
    assert before["jdk.InitialSystemProperty"] > 10
    assert after == {name: before[name] for name in kept} | {"emberscope.Withheld": said["withheld"]}
    assert said["withheld"] == sum(before.values()) - sum(before[name] for name in kept)
    assert said["engine"] == "ctimer"
    ran = subprocess.run([HOME / "bin" / "jfr", "print", filtered], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, SECRET in ran.stdout) == (0, False)

    filtered.write_bytes(data[:76] + b"\xff" * 40 + data[116:])
    said = json.loads(toolchain.java(HOME, "io.emberscope.FilteredFile", filtered, tmp_path / "not", classes=classes))
    assert said == {"refused": True}, "what cannot be understood is not shipped"


def test_a_killed_process_leaves_nothing_beside_its_spool(classes: Path, tmp_path: Path, user: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    settings = {"engine": "async-profiler", "engine.path": str(async_profiler.jar())}
    flags = (f"-Duser.name={user}", f"-Djava.io.tmpdir={temporary}")
    process = Process(HOME, classes, tmp_path, *flags, **settings)
    while not any(manifest["engine"].startswith("async-profiler") for manifest in process.manifests()):
        process.wait()
    process.end()
    assert list(temporary.glob("emberscope-*")) == []
    (spool,) = process.spools()
    assert (spool / "async").is_dir()


@pytest.mark.campaign
def test_closed_chunks_that_could_not_be_shipped_in_life_are_shipped_after_death(
    classes: Path, tmp_path: Path, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-Duser.name={user}")
    (tmp_path / "store").write_text("no directory")
    settings = {"chunk.seconds": "1", "events": "cpu,alloc", "engine": "async-profiler"}
    settings |= {"engine.path": str(async_profiler.jar())}
    process = Process(HOME, classes, tmp_path, f"-Dmy.password={SECRET}", **settings)
    chunks = 2
    while sum(path.read_bytes().count(b"FLR\0") for path in process.place.rglob("async/*.jfr")) < chunks + 1:
        process.wait()
    process.end()
    process.store.unlink()
    assert process.sweep() is None
    assert process.spools() == []
    manifests = [manifest for manifest in process.manifests() if manifest["engine"].startswith("async-profiler ")]
    assert len(manifests) >= chunks
    assert {manifest["swept"] for manifest in manifests} == {True}
    assert len({manifest["sequence"] for manifest in process.manifests()}) == len(process.manifests())
    for path in process.store.rglob("*.jfr"):
        data = path.read_bytes()
        assert SECRET.encode() not in data
        assert read_recording(data, path.name).facts.event_counts


def test_a_users_own_async_profiler_is_left_alone(classes: Path, tmp_path: Path, user: str) -> None:
    users = tmp_path / "users.jfr"
    agent = f"-agentpath:{async_profiler.library(tmp_path)}=start,event=ctimer,interval={PERIOD_NS},jfr,file={users}"
    cpu_ns, problems = _rotations(HOME, classes, tmp_path / "store", user, flags=(agent,), rotations=3)
    assert [problem["where"] for problem in problems] == ["engine"]
    assert problems[0]["message"].endswith("two would disturb each other (libasyncProfiler.so)")
    assert {manifest["engine"] for manifest, _ in _chunks(tmp_path / "store")} == {"jfr"}
    theirs = read_recording(users.read_bytes(), "users.jfr").samples
    found = Counter(theirs["thread_id"].to_pylist())
    for thread, ns in cpu_ns.items():
        assert abs(ns / PERIOD_NS - found[int(thread)]) <= 2 + 0.02 * ns / PERIOD_NS


def test_where_it_is_not_there_flight_recorder_takes_its_place(classes: Path, tmp_path: Path, user: str) -> None:
    _, problems = _rotations(HOME, classes, tmp_path / "asked", user, f"engine.path={tmp_path}/gone.jar")
    assert [problem["where"] for problem in problems] == ["engine"]
    assert "there is no library for this machine" in problems[0]["message"]
    assert [manifest["events"] for manifest, _ in _chunks(tmp_path / "asked")] == [["cpu", "alloc", "lock", "gc"]] * 2

    _, problems = _rotations(HOME, classes, tmp_path / "auto", user, "engine=auto", "engine.path=")
    assert problems == []

    _, problems = _rotations(HOME, classes, tmp_path / "refused", user, "engine.options=event=no-such-event")
    assert [problem["where"] for problem in problems] == ["engine"]
    assert "Unsupported event type" in problems[0]["message"]
    assert [manifest["events"] for manifest, _ in _chunks(tmp_path / "refused")] == [["cpu", "alloc", "lock", "gc"]] * 2


def test_options_are_passed_on_but_not_those_that_would_take_the_recording_away(
    classes: Path, tmp_path: Path, user: str
) -> None:
    options = f"engine.options=event=ctimer,interval=5ms,file={tmp_path}/theirs.jfr,stop"
    _, problems = _rotations(HOME, classes, tmp_path / "store", user, options)
    assert [problem["message"].rpartition(": ")[2] for problem in problems] == ["file, stop"]
    manifests = [manifest for manifest, _ in _chunks(tmp_path / "store") if manifest["engine"] != "jfr"]
    assert {manifest["engine"] for manifest in manifests} == {f"async-profiler {async_profiler.VERSION} (ctimer)"}
    assert {manifest["sample_period_ns"] for manifest in manifests} == {5_000_000}
    assert not (tmp_path / "theirs.jfr").exists()


def test_a_crash_is_remembered_and_a_kill_is_not(classes: Path, tmp_path: Path, user: str) -> None:
    notes = Path(f"/var/tmp/emberscope-{user}")

    def ended_by(number: signal.Signals) -> None:
        command = [
            *(HOME / "bin" / "java", "-Xmx256m", "-XX:-CreateCoredumpOnCrash", f"-Duser.name={user}"),
            *("-cp", toolchain.class_path(classes), "io.emberscope.Rotations", tmp_path / "killed", "1", "600", "100"),
            *("spark.emberscope.engine=async-profiler", f"spark.emberscope.engine.path={async_profiler.jar()}"),
        ]
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not list((tmp_path / "killed").rglob("*.jfr")):
            assert process.poll() is None
        process.send_signal(number)
        process.wait(timeout=60)
        shutil.rmtree(tmp_path / "killed")

    def reason(*settings: str) -> list[str]:
        _, problems = _rotations(HOME, classes, tmp_path / uuid.uuid4().hex, user, *settings)
        return [problem["message"] for problem in problems]

    ended_by(signal.SIGKILL)
    assert reason() == []
    assert [path.suffix for path in notes.iterdir()] == [".young"]
    ended_by(signal.SIGSEGV)
    (said,) = reason("engine=auto")
    assert "crashed with it on this host" in said
    assert f"{tmp_path}/hs_err_pid" in said
    next(tmp_path.glob("hs_err_pid*")).unlink()
    assert reason() == [said], "the note lasts, though the report is gone"
    assert reason("engine=auto", "engine.retry=true") == [said], "not without its name"
    assert reason("engine.retry=true") == []
    assert list(notes.iterdir()) == []
    assert reason("engine=auto") == []
