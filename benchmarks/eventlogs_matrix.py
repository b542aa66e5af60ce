"""Event logs by real Spark in every form and of every fate, read, and held against what Spark itself counted.

    python benchmarks/eventlogs_matrix.py OUT [--python PYTHON …] [--only WORD …]

PYTHON is an interpreter with pyspark (default: this one); give several to compare versions. Each case is one
application (`tests/jobs/shaped_job.py`), whose log stays at OUT/<version>/<case>/log:

- every codec, rolling on and off;
- `.inprogress`: followed from beginning to end, and copied over and over while the application runs, each copy read (no
  crash, nothing malformed but a cut end, lines that only grow);
- the driver killed, an executor killed, a queue of events that overflows, failing tasks and stages that run again,
  streaming, Spark Connect.

What must be equal: jobs, stage attempts and tasks by outcome, SQL executions, executors lost, and the sums of run time
and shuffle bytes, as the application's own status store has them. What must not be: a note of damage on a healthy log.
Prints one line per case and exits 1 where one differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from emberscope.errors import InputError
from emberscope.eventlog.facts import facts
from emberscope.eventlog.follow import Follower
from emberscope.eventlog.read import read_event_log

_JOB: Final = Path(__file__).parent.parent / "tests" / "jobs" / "shaped_job.py"
_CODECS: Final = ("none", "zstd", "lz4", "snappy", "lzf")
_SCHEDULED: Final = ("adaptive", "barrier", "profiles", "decommission", "excluded", "speculation")
_DAMAGE: Final = ("cut", "malformed_line", "missing_part", "duplicate_part", "dropped_events", "clock_skew")
_LIMIT_S: Final = 600

Facts = dict[str, Any]


def cases(version: str) -> Iterator[tuple[str, str, list[str]]]:
    """Name, shape and settings of each case."""
    for codec in _CODECS:
        for rolling in (False, True):
            settings = [
                f"spark.eventLog.compress={'false' if codec == 'none' else 'true'}",
                f"spark.eventLog.rolling.enabled={str(rolling).lower()}",
            ]
            if codec != "none":
                settings.append(f"spark.eventLog.compression.codec={codec}")
            if rolling:
                least = "10m" if release(version) < (4, 3) else "2m"
                settings.append(f"spark.eventLog.rolling.maxFileSize={least}")
            yield f"{codec}-{'rolling' if rolling else 'single'}", "rolled" if rolling else "plain", settings
    for shape in ("killed", "retries", "executor_loss", "streaming", *_SCHEDULED):
        yield shape, shape, []
    yield "overload", "overload", ["spark.scheduler.listenerbus.eventqueue.eventLog.capacity=1"]
    yield "killed-single-plain", "killed", ["spark.eventLog.compress=false", "spark.eventLog.rolling.enabled=false"]
    for codec in ("none", "zstd"):
        compress = "false" if codec == "none" else "true"
        for rolling in ("false", "true"):
            settings = [f"spark.eventLog.compress={compress}", f"spark.eventLog.rolling.enabled={rolling}"]
            yield f"inprogress-{codec}-{'rolling' if rolling == 'true' else 'single'}", "long", settings
    yield "connect", "connect", []


def release(version: str) -> tuple[int, ...]:
    """Major and minor number."""
    return tuple(int(number) for number in version.split(".")[:2])


def log_in(folder: Path) -> Path:
    """The one log in a folder."""
    (log,) = (path for path in folder.iterdir() if not path.name.startswith("."))
    return log


def counted(found: Facts) -> dict[str, Any]:
    """The facts under the names of what the job prints."""
    totals, tasks = found["totals"], found["tasks"]
    return {
        "jobs": found["jobs"],
        "jobs_failed": found["jobs_failed"],
        "stage_attempts": found["stage_attempts"],
        "stage_attempts_failed": found["stage_attempts_failed"],
        "tasks_succeeded": tasks["succeeded"],
        "tasks_failed": tasks["failed"],
        "tasks_killed": tasks["killed"],
        "executor_run_time_ms": totals["executor_run_time_ms"] or 0,
        "shuffle_write_bytes": totals["shuffle_write_bytes"] or 0,
        "sql_executions": found["sql_executions"],
        "executors_removed": found["executors_removed"],
    }


def differences(found: Facts, said: Facts, shape: str) -> list[str]:
    """What is not as it must be."""
    mine = counted(found)
    bad = [f"{name} {mine[name]}, not {value}" for name, value in said.items() if mine[name] != value]
    notes = [note for note in found["coverage"]["notes"] if note["code"] in _DAMAGE]
    if shape == "overload":
        return overloaded(bad, notes)
    if shape == "killed":
        # What was not flushed is not there, and cannot be: a prefix of what Spark counted.
        bad = [f"{name} {mine[name]}, more than {value}" for name, value in said.items() if mine[name] > value]
        notes = [note for note in notes if note["code"] != "cut"]
    bad += [f"{note['code']}: {note['message']}" for note in notes]
    if found["complete"] != (shape != "killed"):
        bad.append(f"complete is {found['complete']}")
    return bad


def overloaded(different: list[str], notes: list[Facts]) -> list[str]:
    """Spark dropped events, if anything is different: then that must be told, and nothing else."""
    told = sum(note["lost"].get("events", 0) for note in notes if note["code"] == "dropped_events")
    print(f"     {len(different)} counts differ, {told:.0f} events are told to be missing")
    others = [note["message"] for note in notes if note["code"] != "dropped_events"]
    return others + ([] if bool(different) == bool(told) else different)


def watch(folder: Path, copy: Path, process: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Follows the log while it grows, and copies and reads it. How often, and what was wrong."""
    reads, lines, bad = 0, 0, []
    follower: Follower | None = None
    while process.poll() is None:
        time.sleep(0.3)
        if follower is None and any(not path.name.startswith(".") for path in folder.iterdir()):
            follower = Follower(str(log_in(folder)))
        if follower is not None:
            follower.poll()
        shutil.rmtree(copy, ignore_errors=True)
        try:
            shutil.copytree(folder, copy)
            found = facts(read_event_log(str(log_in(copy))))
        except (InputError, ValueError, OSError, shutil.Error):
            continue  # there is nothing yet, or it was renamed meanwhile
        reads += 1
        whole = found["lines"] - found["malformed_lines"]
        if whole < lines:
            bad.append(f"{whole} whole lines after {lines}")
        lines = max(lines, whole)
        codes = {note["code"] for note in found["coverage"]["notes"]} & set(_DAMAGE)
        if codes - {"cut"} or found["malformed_lines"] > 1:
            bad.append(f"a copy that grows has {sorted(codes)}")
    return reads, bad + followed(follower, folder)


def followed(follower: Follower | None, folder: Path) -> list[str]:
    """How what was followed differs from what is there at the end."""
    if follower is None:
        return ["there was nothing to follow"]
    with follower:
        for _ in range(2):
            follower.poll()
        run = follower.run()
    if run is None or not follower.ended:
        return ["the follower did not see the end"]
    mine, whole = facts(run), facts(read_event_log(str(log_in(folder))))
    return [f"followed: {name} {mine[name]}, not {whole[name]}" for name in mine if mine[name] != whole[name]]


def run_case(
    python: str, place: Path, shape: str, settings: list[str], submit: str | None = None
) -> tuple[str, list[str]]:
    """Runs one application, with arguments for spark-submit. A word about it, and what is wrong."""
    shutil.rmtree(place, ignore_errors=True)
    (place / "log").mkdir(parents=True)
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": python}
    if submit is not None:
        environment["PYSPARK_SUBMIT_ARGS"] = f"{submit} pyspark-shell"
    command = [python, str(_JOB), shape, str(place), *settings]
    with (place / "stderr").open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        reads, bad = watch(place / "log", place / "copy", process) if shape == "long" else (0, [])
        out, _ = process.communicate(timeout=_LIMIT_S)
    shutil.rmtree(place / "copy", ignore_errors=True)
    last = (out.strip().splitlines() or [""])[-1]
    if not last.startswith("{"):
        return "", [f"the application failed: see {place / 'stderr'}"]
    for name in ("local", "warehouse", "in", "checkpoint"):
        shutil.rmtree(place / name, ignore_errors=True)
    log = log_in(place / "log")
    said = json.loads(last)
    (place / "counts.json").write_text(last)
    run = read_event_log(str(log))
    # One that is decommissioned has two events of its end.
    removed = sum(ms is not None for ms in run.tables["executors"]["removed_ms"].to_pylist())
    found = {**facts(run), "executors_removed": removed}
    size = sum(file.stat().st_size for file in ([log] if log.is_file() else log.iterdir()))
    words = f"{size:>9,} B, {found['lines']:>5,} lines, {found['tasks']['total']:>4} tasks"
    return words + (f", read {reads} times while it grew" if reads else ""), bad + differences(found, said, shape)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="cases that have one in their name")
    parser.add_argument("--connect-jar", type=Path, help="Spark Connect for Spark 3, if not from Maven's repository")
    options = parser.parse_args()
    good = all_ = 0
    for python in options.python:
        asked = [python, "-c", "import pyspark; print(pyspark.__version__)"]
        version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        for name, shape, settings in cases(version):
            if not any(word in name for word in options.only):
                continue
            submit = None
            if shape == "connect" and release(version) < (4, 0):
                submit = f"--packages org.apache.spark:spark-connect_2.12:{version}"
                if options.connect_jar is not None:
                    submit = f"--jars {options.connect_jar.resolve()}"
            all_ += 1
            words, bad = run_case(python, options.out.resolve() / version / name, shape, settings, submit)
            good += not bad
            print(f"{'FAIL' if bad else 'ok  '} {version} {name:<26} {words}", *bad, sep="\n       ", flush=True)
    print(f"event logs by real Spark: {good} of {all_} right")
    return 0 if good == all_ else 1


if __name__ == "__main__":
    sys.exit(main())
