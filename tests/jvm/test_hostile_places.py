"""In a hostile place the job goes on as it would without a recorder, and the run says in a sentence what is missing.

The job prints two lines and ends with code 3. Places are made with mounts in a namespace of their own, as root.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from emberscope.jfr.recording import read_recording
from emberscope.sources.recorder_cost import budget_notes, problem_notes
from emberscope.store.chunks import read_chunk
from tests.jvm import hostile, toolchain
from tests.jvm.hostile import CODE, OUTPUT, Ended

NOBODY = "65534"
AGENT = ("tools/profiler/async-profiler/4.5/async-profiler-4.5.jar", "linux-x64/libasyncProfiler.so")


def _is_as_it_would_be(ended: Ended, first: str = "") -> None:
    assert (ended.code, ended.out) == (CODE, first + OUTPUT), ended.err
    job = ended.err.partition("\nemberscope:\n")[0]
    # Spark itself logs all settings and system properties, over many lines: there we are named, and do not speak.
    loud = re.compile(r" (WARN|ERROR) .*emberscope|^\s*at io\.emberscope|^(Exception|Caused by).*emberscope")
    assert [line for line in job.splitlines() if loud.search(line)] == []


@pytest.fixture
def anyones() -> Iterator[Path]:
    """A directory that every user may reach and write."""
    path = Path(tempfile.mkdtemp(prefix="any-place-"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.mark.spark
@pytest.mark.usefixtures("jar")
def test_a_read_only_root_without_privileges_and_nothing_executable_in_tmp(anyones: Path) -> None:
    store, tmp = anyones / "store", anyones / "tmp"
    for directory in (store, tmp):
        directory.mkdir()
        directory.chmod(0o777)
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    before = "\n".join(
        (
            *_opened(anyones),
            f"mount --bind {store} {store}",
            f"mount --bind {tmp} {tmp}",
            f"mount -o remount,bind,noexec,nosuid,nodev {tmp}",
            "mount -o remount,bind,ro /",
            f"cd {store}",
            f"{shlex.join(as_nobody)} {sys.executable} -c 'import pyspark'",
        )
    )
    ended = hostile.run(
        store,
        before=before,
        prefix=as_nobody,
        java=f"-Djava.io.tmpdir={tmp}",
        # zstd's library cannot be loaded from such a place: Spark would not write its event log.
        conf={"spark.eventLog.compress": "false", "spark.local.dir": str(tmp)},
        environment={"TMPDIR": str(tmp), "HOME": str(tmp)},
    )
    _is_as_it_would_be(ended)
    assert ended.said == []
    assert [executor["lost_ms"] for executor in ended.run["executors"]] == [0]
    assert {path.stat().st_uid for path in store.rglob("*.jfr")} == {int(NOBODY)}


@pytest.mark.spark
@pytest.mark.usefixtures("jar")
def test_no_room_for_flight_recorder(tmp_path: Path) -> None:
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    before = f"mount -t tmpfs -o size=48m none {tmp}"
    ended = hostile.run(
        tmp_path / "store",
        before=before,
        java=f"-Djava.io.tmpdir={tmp}",
        conf={"spark.local.dir": str(tmp_path), "spark.emberscope.spool": str(tmp)},
        environment={"TMPDIR": str(tmp_path)},
    )
    _is_as_it_would_be(ended)
    said, missing = [message for message in ended.said if "recorder said" in message]
    assert missing.startswith("The recorder said: no engine here records cpu, alloc, lock, gc (Java ")
    assert "MiB are free in" in said
    assert "(spark.emberscope.budget.free)" in said


@pytest.mark.spark
@pytest.mark.usefixtures("jar")
def test_beside_a_users_flight_recordings_and_async_profiler(tmp_path: Path) -> None:
    users, own, profile = tmp_path / "users.jfr", tmp_path / "own.jfr", tmp_path / "async.jfr"
    options = f"-XX:StartFlightRecording=settings=profile,filename={users},dumponexit=true -Xlog:jfr+startup=off"
    agent = _agent(tmp_path)
    if agent is not None:
        options += f" -agentpath:{agent}=start,event=ctimer,interval=10ms,jfr,file={profile}"
    ended = hostile.run(tmp_path / "store", tmp_path / "facts.json", own, java=options)
    # async-profiler prints a line of its own where it is an agent.
    _is_as_it_would_be(ended, "Profiling started\n" if agent is not None else "")
    (said,) = [message for message in ended.said if "recorder said" in message]
    assert "stacks are cut at 64 frames, not 1024: JFR ran already" in said
    for theirs in (users, own, *([profile] if agent is not None else [])):
        samples = read_recording(theirs.read_bytes(), theirs.name).facts.samples
        assert samples["cpu"] > 0, f"{theirs.name} is whole"
    assert ended.run["recorder"]["own_cpu"][0]["own_cpu_ns"] > 0


def _opened(scratch: Path) -> list[str]:
    """Lines that let every user reach Python and this checkout, where they lie in somebody's closed home."""
    wanted = [Path(sys.base_prefix), toolchain.ROOT]
    closed = {path: next((up for up in path.parents if not up.stat().st_mode & 0o001), None) for path in wanted}
    behind = [path for path in wanted if closed[path] is not None]
    stages = {path: scratch / f"behind-{number}" for number, path in enumerate(behind)}
    for stage in stages.values():
        stage.mkdir()
    return [
        *(f"mount --bind {path} {stage}" for path, stage in stages.items()),
        *(f"mount -t tmpfs -o mode=755 none {up}" for up in {str(closed[path]) for path in behind}),
        *(f"mkdir -p {path}; mount --bind {stage} {path}" for path, stage in stages.items()),
    ]


def _agent(scratch: Path) -> Path | None:
    """async-profiler's library from its jar in Maven's own repository; None where it was never fetched."""
    repository = Path(os.environ.get("M2_REPOSITORY") or Path.home() / ".m2" / "repository")
    jar = repository / AGENT[0]
    if not jar.is_file() or os.uname().machine != "x86_64":
        return None
    with zipfile.ZipFile(jar) as archive:
        return Path(archive.extract(AGENT[1], scratch))


@pytest.mark.spark
@pytest.mark.usefixtures("jar")
def test_switched_off_nothing_is_loaded_or_started_and_switched_on_no_port_is_opened(tmp_path: Path) -> None:
    loaded = tmp_path / "classes.log"
    found = {}
    for switch in ("false", "true"):
        facts = tmp_path / f"{switch}.json"
        log = f"-Xlog:class+load:file={loaded}:none" if switch == "false" else ""
        conf = {"spark.emberscope.enabled": switch}
        _is_as_it_would_be(hostile.run(tmp_path / switch, facts, java=log, conf=conf))
        found[switch] = json.loads(facts.read_text())
    off, on = found["false"], found["true"]
    assert on["listening"] == off["listening"], "no port is opened"
    ours = Counter(name for name in on["threads"] if name.startswith(("emberscope", "JFR")))
    assert ours["emberscope-reco"] == 1
    assert [name for name in off["threads"] if name in ours] == []
    names = {line.partition(" ")[0] for line in loaded.read_text().splitlines()}
    assert "io.emberscope.EmberscopePlugin" in names
    forbidden = ("io.emberscope.Recorder", "io.emberscope.Flight", "io.emberscope.Governor", "io.emberscope.Chunk")
    assert [name for name in sorted(names) if name.startswith(forbidden)] == []


def test_the_jar_brings_nothing_but_our_own_package(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    assert {name.rpartition("/")[0] for name in names} == {"META-INF", "io/emberscope"}
    assert [name for name in names if name.startswith("META-INF/")] == ["META-INF/MANIFEST.MF"]


def test_a_store_that_is_full_is_said_and_the_recorder_ends_in_time(classes: Path, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    mount = f"mount -t tmpfs -o size=64k none {full}"
    if subprocess.run(["unshare", "-m", "sh", "-ec", mount], capture_output=True).returncode != 0:
        pytest.skip("mounts are not permitted here")
    home = toolchain.jdk_homes()[0]
    java = [home / "bin" / "java", "-cp", toolchain.class_path(classes), "io.emberscope.RecordsForAWhile", full, "ship"]
    command = ["unshare", "-m", "sh", "-ec", f'{mount}; exec "$@"', "sh", *map(str, java)]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | {"SPARK_LOCAL_IP": "::1"}
    )
    assert ran.returncode == 0, ran.stderr
    (problem,) = json.loads(ran.stdout)["problems"]
    assert problem["where"] == "ship"
    assert "No space left on device" in problem["message"]


def test_a_budget_of_bytes_is_kept_and_its_end_is_said(classes: Path, tmp_path: Path) -> None:
    home = toolchain.jdk_homes()[0]
    arguments: list[str | Path] = [tmp_path, "stop", "events=cpu", "budget.bytes=2m", "budget.cpu=1"]
    said = json.loads(toolchain.java(home, "io.emberscope.RecordsForAWhile", *arguments, classes=classes))
    sent = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert 0.9 * (2 << 20) <= sent <= 2 << 20
    near, stop = said["problems"]
    assert (near["where"], stop["where"]) == ("budget", "stop")
    assert "only task spans are recorded from here on" in near["message"]
    assert "nothing is recorded any more" in stop["message"]
    chunks = [read_chunk(path) for path in sorted(tmp_path.rglob("*.jfr"))]
    ratios = [chunk.manifest.rate_ratio for chunk in chunks if chunk.manifest is not None]
    assert ratios == sorted(ratios, reverse=True)
    assert {1.0, 0.5, 0.0} <= set(ratios)
    last = next(chunk for chunk in reversed(chunks) if chunk.manifest is not None and chunk.manifest.engine == "jfr")
    spans_alone = read_recording(last.path.read_bytes(), last.path.name)
    assert spans_alone.spans.num_rows > 0
    assert spans_alone.samples.num_rows == 0
    # The last chunk that came still says that the bytes were nearly used up.
    assert any("budget.bytes" in note.message for note in problem_notes(chunks))
    (note,) = budget_notes(chunks)
    assert note.message.startswith(
        "To hold spark.emberscope.budget.bytes, samples were taken less often, down to 1 of "
    )
