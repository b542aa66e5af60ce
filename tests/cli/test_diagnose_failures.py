"""Failures that were made for real (benchmarks/failures_make.py, kept by failures_keep.py): what is said first.

Their logs lie in tests/data/failures, one folder each as its cluster lays logs out, the event log beside them.
"""

import json
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code

DATA = Path(__file__).parents[1] / "data" / "failures"
FIRST = {
    "disk_full": ("K10", "A local disk was full under /srv: Executors 0, 1 had no room for shuffle", "spill"),
    "driver_heap": ("K5", "The driver's heap is full (Java heap space)", "collected"),
    "exit_13": ("L13", "The program set its own master, local, in YARN cluster mode", "which wins over --master"),
    "fetch_failed": ("K6", "Shuffle files are gone although executors 0, 1 answer", "local directories"),
    "heartbeat": ("K12", "The driver heard no heartbeat of executor 1 for 20.5 s", "garbage collection"),
    "missing_class": ("K11", "Class org.postgresql.Driver is missing", "class path"),
    "python_crash": ("K17", "A Python worker of executors 0, 1 died", "cannot be told from this line"),
    "sigkill": ("K2", "Executor 1 was killed by SIGKILL (exit code 137)", "cgroup"),
    "wrong_credentials": ("K15", "wrong access key or secret, or missing rights", "cannot be told"),
    "wrong_java": ("K40", "Java is too new for this Spark", "Java 24"),
    "yarn_memory": ("K1", "Executors 1, 2: their containers used 929.2 of 896 MB", "YARN"),
}


def first(inputs: list[Path], output: Path) -> dict[str, str]:
    assert exit_code(["diagnose", *map(str, inputs), "-o", str(output), "--format", "json"]) == 0
    found: dict[str, str] = json.loads(output.read_text())["findings"][0]
    return found


def test_each_kept_failure_is_asked_about():
    assert {path.name for path in DATA.iterdir() if path.is_dir()} == set(FIRST)


@pytest.mark.parametrize("name", sorted(FIRST))
@pytest.mark.parametrize("joined", [False, True], ids=["logs", "logs-and-event-log"])
def test_the_first_finding_is_the_failure(tmp_path, name, joined):
    inputs = [DATA / name / "logs"]
    if joined:
        inputs.append(DATA / name / "events.gz")
        if not inputs[1].exists():
            pytest.skip("it ended before it had an event log")
    code, title, mechanism = FIRST[name]
    found = first(inputs, tmp_path / "out.json")
    assert found["code"] == code
    assert title in found["title"]
    assert mechanism in found["summary"]
