"""What a process leaves in its spool when it is killed, and who ships it: no secrets, nothing twice, under one name."""

import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from emberscope.jfr.recording import read_recording
from emberscope.recorder.spools import left_by
from tests.jvm import toolchain
from tests.jvm.killed import SECRET, Process

NEWEST = max(toolchain.jdk_homes(), key=toolchain.major)
DAY_SECONDS = 86_400


@pytest.fixture(params=toolchain.jdk_homes(), ids=lambda home: home.name)
def home(request: pytest.FixtureRequest) -> Path:
    home: Path = request.param
    return home


def _check_series(process: Process, last_task: int) -> list[dict[str, Any]]:
    """One unbroken series to the very end, without a secret in it; returns the manifests."""
    manifests = process.manifests()
    assert [manifest["sequence"] for manifest in manifests] == list(range(len(manifests)))
    assert [manifest["last"] for manifest in manifests] == [False] * (len(manifests) - 1) + [True]
    assert len({manifest["first_ms"] for manifest in manifests}) == len(manifests)
    chunks = sorted(process.store.rglob("*.jfr"))
    assert len(chunks) == len(manifests)
    spans = []
    for path in chunks:
        data = path.read_bytes()
        assert SECRET.encode() not in data
        assert SECRET.encode("utf-16-be") not in data
        recording = read_recording(data, path.name)
        assert "shop.Order" not in recording.facts.event_counts
        spans += recording.spans.to_pylist()
    ended = sorted(span["task_id"] for span in spans if span["end_ns"] is not None)
    assert ended == list(range(ended[0], ended[-1] + 1)), "from the recording's start on, every task once"
    assert last_task - ended[-1] < 1_500, "JFR writes its open chunk about every second, of tasks of 2 ms"
    assert {span["description"] for span in spans} <= {"a description of this very job, für alle", "*" * 40}
    return manifests


def test_what_a_killed_process_left_is_shipped_and_nothing_of_others_in_it(
    home: Path, classes: Path, tmp_path: Path
) -> None:
    process = Process(home, classes, tmp_path, f"-Dmy.password={SECRET}")
    process.until(2)
    last_task = process.end()
    assert [path.stat().st_mode & 0o777 for path in process.spools()] == [0o700]
    assert len(left_by(process.run, [process.place])) == 1
    assert process.sweep() is None
    assert process.spools() == []
    manifests = _check_series(process, last_task)
    assert [(each["swept"], each["unfinished"]) for each in manifests[:2]] == [(False, False)] * 2
    assert (manifests[-1]["swept"], manifests[-1]["unfinished"]) == (True, True)
    assert {each["pid"] for each in manifests} == {process.process.pid}
    identity = ("app_id", "attempt", "role", "executor_id", "host", "pid", "jdk")
    assert len({tuple(each[name] for name in identity) for each in manifests}) == 1, "who ships says whose it is"
    assert None not in {manifests[-1][name] for name in identity}


def test_from_a_directory_of_any_name(classes: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "a:b"
    scratch.mkdir()
    process = Process(NEWEST, classes, scratch)
    process.until(1)
    last_task = process.end()
    assert process.sweep() is None
    assert process.spools() == []
    _check_series(process, last_task)


def test_beside_a_users_recording_too(home: Path, classes: Path, tmp_path: Path) -> None:
    users = f"-XX:FlightRecorderOptions:repository={tmp_path / 'disk' / 'users'}"
    flags = (users, f"-XX:StartFlightRecording=settings=profile,filename={tmp_path / 'users.jfr'}")
    process = Process(home, classes, tmp_path, *flags, f"-Dmy.password={SECRET}")
    process.until(1)
    last_task = process.end()
    assert process.sweep() is None
    assert process.spools() == []
    assert list((tmp_path / "disk" / "users").rglob("*.jfr")), "the user's own files stay where they are"
    _check_series(process, last_task)


def test_wall_clock_samples_too(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path, **{"chunk.seconds": "60", "events": "cpu,wall"})
    process.until(0)
    while not list(process.place.rglob("wall.jfr")):
        process.wait()
    process.end()
    assert process.sweep() is None
    assert process.spools() == []
    manifests = {manifest["engine"]: manifest for manifest in process.manifests()}
    assert set(manifests) == {"jfr", "wall-sampler"}
    assert {manifest["swept"] for manifest in manifests.values()} == {True}
    recordings = [read_recording(path, path.name) for path in process.store.rglob("*.jfr")]
    wall = sum(row["count"] for each in recordings for row in each.samples.to_pylist() if row["event"] == "wall")
    assert wall > 0


@pytest.mark.campaign
def test_what_is_swept_says_at_what_rate_it_was_recorded(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path)
    process.until(1)
    process.end()
    assert process.sweep() is None
    assert {(each["rate_ratio"], each["rate_held_by"]) for each in process.manifests() if each["swept"]} == {(1, None)}

    slowed = tmp_path / "slowed"
    slowed.mkdir()
    process = Process(NEWEST, classes, slowed, **{"budget.bytes": "4m"})
    while all(each["rate_ratio"] for each in process.manifests()):
        process.wait()
    process.until(len(process.manifests()))
    process.end()
    assert process.sweep() is None
    swept = [each for each in process.manifests() if each["swept"]]
    assert swept
    rates = {(each["rate_ratio"], each["rate_held_by"], each["sample_period_ns"]) for each in swept}
    assert rates == {(0, "bytes", None)}


def test_rates_that_a_dead_process_did_not_write_down_are_not_known(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path)
    process.until(1)
    process.end()
    document = process.spools()[0] / "process"
    lines = document.read_text().splitlines(keepends=True)
    document.write_text("".join(line for line in lines if not line.startswith("jfr.rates=")))
    assert process.sweep() is None
    assert {each["rate_ratio"] for each in process.manifests() if each["swept"]} == {None}


@pytest.mark.campaign
def test_wall_clock_samples_that_could_not_be_shipped_in_life_are_shipped_after_death(
    classes: Path, tmp_path: Path
) -> None:
    (tmp_path / "store").write_text("no directory")
    process = Process(NEWEST, classes, tmp_path, **{"chunk.seconds": "1", "events": "cpu,wall"})
    chunks = 3
    while sum(path.read_bytes().count(b"FLR\0") for path in process.place.rglob("wall-closed.jfr")) < chunks:
        process.wait()
    process.end()
    process.store.unlink()
    assert process.sweep() is None
    assert process.spools() == []
    wall = [manifest for manifest in process.manifests() if manifest["engine"] == "wall-sampler"]
    assert len(wall) >= chunks
    for before, after in itertools.pairwise(wall):
        assert before["last_ms"] == pytest.approx(after["first_ms"], abs=2), "each begins where the one before ends"
    names = [f"{manifest['first_ms']}-{manifest['sequence']:06d}.jfr" for manifest in wall]
    recordings = [read_recording(next(process.store.rglob(name)), name) for name in names]
    assert sum(sum(each.samples["count"].to_pylist()) for each in recordings) > 0


def test_a_chunk_that_may_have_arrived_comes_again_under_its_name(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path)
    process.until(2)
    last_task = process.end()
    spool = process.spools()[0]
    kept = tmp_path / "kept"
    shutil.copytree(spool, kept)
    before = process.files()

    # As if it had been killed after the chunk and before its manifest, and then before it could say so.
    log = (spool / "chunks.log").read_text().splitlines(keepends=True)
    begun = [line.split()[3] for line in log if line.startswith("begin")]
    (spool / "chunks.log").write_text("".join(log[: log.index(next(x for x in log[::-1] if x[:5] == "begin")) + 1]))
    manifest = max(process.store.rglob("*.json"), key=lambda path: path.name)
    assert int(manifest.stem.split("-")[1]) == int(begun[-1])
    manifest.unlink()
    assert process.sweep() is None
    swept = process.files()
    data = manifest.with_suffix(".jfr").name
    assert swept[data] == before[data]
    _check_series(process, last_task)

    # As if the one that swept had been killed before it could say so.
    shutil.move(kept, spool)
    assert process.sweep() is None
    assert {name: data for name, data in process.files().items() if name.endswith(".jfr")} == {
        name: data for name, data in swept.items() if name.endswith(".jfr")
    }


def test_the_living_are_left_alone_and_leave_nothing(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path)
    process.until(1)
    assert left_by(process.run, [process.place]) == []
    # The Java side looks for itself.
    command = [process.java, "-cp", str(toolchain.JAR), "io.emberscope.Sweep", process.run.as_uri(), "app-1", "1"]
    said = subprocess.run([*command, str(process.place)], capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == {"swept": 0, "problems": []}
    last_task = process.end(signal.SIGTERM)
    assert process.spools() == []
    assert {manifest["swept"] for manifest in _check_series(process, last_task)} == {False}


def test_spools_of_other_applications_are_removed_when_they_are_old(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path)
    process.until(1)
    process.end()
    spool = process.spools()[0]
    command = [process.java, "-cp", str(toolchain.JAR), "io.emberscope.Sweep", "file:///another", "app-2", "1"]
    subprocess.run([*command, str(process.place)], check=True, capture_output=True)
    assert process.spools() == [spool]
    then = time.time() - DAY_SECONDS - 60
    for path in [*spool.rglob("*"), spool]:
        os.utime(path, (then, then))
    subprocess.run([*command, str(process.place)], check=True, capture_output=True)
    assert process.spools() == []
    assert not (tmp_path / "another").exists()


def test_a_damaged_spool_keeps_nobody_waiting(classes: Path, tmp_path: Path) -> None:
    process = Process(NEWEST, classes, tmp_path)
    process.until(1)
    last_task = process.end()
    spool = process.spools()[0]
    for number, text in enumerate((b"schema=%zz\n", b"no sign\n", b"schema=emberscope.spool/1\n", b"\xff=\xff\n", b"")):
        other = spool.with_name(f"process-{number}")
        other.mkdir()
        (other / "lock").touch()
        (other / "process").write_bytes(text)
    said = process.sweep()
    assert said is not None
    assert "process-0" in said, "whose it was cannot be known, so that it stays is said"
    assert spool not in process.spools()
    _check_series(process, last_task)


def test_a_process_does_not_let_go_of_its_lock_where_its_place_has_two_names(classes: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    command = [str(NEWEST / "bin" / "java"), "-cp", toolchain.class_path(classes), "io.emberscope.TwoPaths"]
    command += [str(tmp_path / "disk"), str(tmp_path / "link")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        with Path(said["lock"]).open("r+b") as lock, pytest.raises(OSError, match="unavailable"):
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert (said["swept"], said["problems"]) == (0, [])


def test_texts_beyond_the_size_of_their_file_are_not_written_anew_each_second(classes: Path, tmp_path: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.ManyTexts", tmp_path, classes=classes))
    assert said == {"rewritten": 1, "found": True, "keeps_names": True, "problems": []}


def test_an_application_that_ends_without_an_id_leaves_nothing(classes: Path, tmp_path: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.NeverPlaced", tmp_path, classes=classes))
    assert said == {"recorded": True}
    assert list(tmp_path.glob("emberscope-*/process-*")) == [], "nobody could ever ship it"


def test_the_log_of_chunks_stays_short_and_knows_what_waits(classes: Path, tmp_path: Path) -> None:
    count = 20_000
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.LongLog", tmp_path / "log", str(count), classes=classes))
    assert said.pop("longest") < 1 << 20
    assert said == {"last_done": True, "waits": False, "its_number": 0, "next": count}


def test_an_application_that_ends_leaves_the_spool_to_the_next_one_of_its_jvm(classes: Path, tmp_path: Path) -> None:
    said = json.loads(toolchain.java(NEWEST, "io.emberscope.SharedSpool", tmp_path, classes=classes))
    assert said == {"between": "app-2, with a log", "after": "nobody", "problems": []}
    assert list(tmp_path.glob("emberscope-*/process-*")) == []


def test_a_place_that_others_can_write_to_is_not_used(classes: Path, tmp_path: Path) -> None:
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    open_to_all = tmp_path / "disk" / f"emberscope-{user}"
    open_to_all.mkdir(parents=True)
    open_to_all.chmod(0o777)
    process = Process(NEWEST, classes, tmp_path)
    while not process.manifests():
        process.wait()
    process.end()
    assert list(open_to_all.iterdir()) == []
