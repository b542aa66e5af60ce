"""Every field of every event, against the JDK's own reader. Larger recordings: `benchmarks/recordings_oracle.py`."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from tests.jfr.canonical import Canonical
from tests.jfr.every_event import ORACLE, chunks, compare, of_ours
from tests.jfr.jdks import JDKS
from tests.jfr.recordings import DATA, plain

PROGRAM = ORACLE.with_name("AllEvents.java")
KEPT = ("workload-jdk17", "workload-jdk25", "new_spancontext", "cortex-dev-01__kafka-0__cpu__2", "full_gc_g1")
UNREAD_BY_THE_JDK = "FastSlow_2024_01_16_180855"
"""The second of its three chunks, which jfrsync made, has a pool of stack traces without any: an error to the JDK."""


@pytest.mark.parametrize("version", sorted(JDKS))
def test_a_recording_of_all_events_made_now(version: int, tmp_path: Path) -> None:
    file = tmp_path / "all.jfr"
    command = [JDKS[version], "-Xmx128m", str(PROGRAM), str(file), "12"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    result = compare(JDKS[version], file)
    assert (result.differences, result.refused_by_jdk) == ([], [])
    assert result.chunks >= 2
    assert result.events > 5000
    kinds = {name for _, chunk in chunks(file) for name in chunk.event_counts}
    assert kinds >= {"emberscope.test.Fields", "jdk.ExecutionSample", "jdk.JavaMonitorEnter", "jdk.JavaExceptionThrow"}
    assert len(kinds) > 100


@pytest.mark.skipif(not JDKS, reason="no JDK is installed")
def test_recordings_of_other_jvms_and_of_async_profiler_in_one_file(tmp_path: Path) -> None:
    file = tmp_path / "all.jfr"
    file.write_bytes(b"".join(plain(f"{name}.jfr.gz") for name in (UNREAD_BY_THE_JDK, *KEPT)))
    result = compare(JDKS[max(JDKS)], file)
    assert result.differences == []
    assert [word.partition(":")[0] for word in result.refused_by_jdk] == ["chunk 1"]
    assert (result.chunks, result.events) == (7, 1226 + 1105 + 924 + 536 + 571 + 515)


def test_texts_tell_values_apart(tmp_path: Path) -> None:
    """The comparison stands on digests of these texts: one changed byte of one event has to show, and nowhere else."""
    data = bytearray(gzip.decompress((DATA / "workload-jdk17.jfr.gz").read_bytes()))
    file = tmp_path / "workload.jfr"
    file.write_bytes(data)
    ((_, whole),) = chunks(file)
    before = of_ours(whole)
    written = data.index(b"stage 1")  # the description of a task
    data[written] ^= 1
    file.write_bytes(data)
    ((_, changed),) = chunks(file)
    after = of_ours(changed)
    different = [name for name in before if before[name].digest.digest() != after[name].digest.digest()]
    assert different == ["emberscope.TaskStart"]
    texts = [text for text, _ in Canonical(changed).events("emberscope.TaskStart")]
    assert sum('description="rtage 1"' in text for text in texts) == 1
