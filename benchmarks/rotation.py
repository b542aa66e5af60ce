"""What does it cost to close a chunk? Threads that only burn CPU, and every sample of them counted across rotations.

    python benchmarks/rotation.py --async-profiler JAR --java 17=HOME --java 25=HOME [--rotations 60] [--seconds 1]

Two threads run task after task with stacks as deep and as various as Spark's (60 to 160 frames), and the recorder
closes a chunk every `--seconds`. For each engine and each way of closing a chunk: how many samples the threads' own
CPU time makes due and how many were found, how many more the sampler says it lost itself (no rotation does that: JDK
25 loses a sample where the JVM itself is at work), what is lost per rotation beyond them, and the time between two
samples of one thread, within chunks and from the last of a chunk to the first of the next. Where nothing is lost the
two are alike.

Ways: `dump` is how the recorder closes a chunk of async-profiler; `stop, start` is how it begins a file anew, forced
here at every rotation by a budget of no memory. `jfr` is JDK Flight Recorder alone (25: its CPU-time sampler; the
older one of 17 is no measure of CPU time and stands here for its gaps).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from emberscope.jfr.events import SAMPLES_LOST
from emberscope.recorder.jar import recorder_jar
from emberscope.sources.recording import load_recording

PROGRAM = Path(__file__).parents[1] / "tests/jvm/java/io/emberscope/Rotations.java"
PERIOD_NS = 20_000_000
WAYS = {
    "perf events, dump": ("engine=async-profiler", "engine.options=event=cpu"),
    "perf events, stop, start": ("engine=async-profiler", "engine.options=event=cpu", "budget.memory=0"),
    "ctimer, dump": ("engine=async-profiler", "engine.options=event=ctimer"),
    "ctimer, stop, start": ("engine=async-profiler", "engine.options=event=ctimer", "budget.memory=0"),
    "jfr": ("engine=jfr",),
}


def class_path(classes: Path) -> str:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return os.pathsep.join([str(classes), str(recorder_jar()), f"{spec.submodule_search_locations[0]}/jars/*"])


def measured(home: Path, classes: Path, settings: tuple[str, ...], arguments: argparse.Namespace) -> list[str]:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as store:
        command = [
            *(home / "bin/java", "-Xmx256m", "--enable-native-access=ALL-UNNAMED", "-cp", class_path(classes)),
            *("io.emberscope.Rotations", store, "2", arguments.rotations, int(1000 * arguments.seconds)),
            *(f"spark.emberscope.{setting}" for setting in (*settings, f"engine.path={arguments.async_profiler}")),
            "spark.emberscope.events=cpu",
        ]
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
        ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, env=environment)
        said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
        for problem in said["problems"]:
            print(problem["message"], file=sys.stderr)
        files = sorted(map(str, Path(store).rglob("*.jfr")))
        manifests = [json.loads(Path(file).with_suffix(".json").read_text()) for file in files]
        ends_ns = np.array(sorted(1e6 * each["last_ms"] for each in manifests if each["sample_period_ns"]))
        tables = load_recording(store, files=files).tables
    samples, series = tables["samples"], tables["series"]
    told = pc.sum(series.filter(pc.equal(series["name"], SAMPLES_LOST))["value"]).as_py() or 0
    cpu = samples.filter(pc.equal(samples["event"], "cpu"))
    expected = found = 0.0
    within, across = [], []
    for thread, ns in said["cpu_ns"].items():
        times = np.sort(cpu.filter(pc.equal(cpu["thread_id"], int(thread)))["time_ns"].to_numpy())
        expected, found = expected + ns / PERIOD_NS, found + len(times)
        gaps = np.diff(times) / 1e6
        crosses = np.diff(np.searchsorted(ends_ns, times)) > 0
        within, across = [*within, *gaps[~crosses]], [*across, *gaps[crosses]]
    lost_ms = (expected - found - told) * PERIOD_NS / 1e6 / (2 * arguments.rotations)
    return [
        str(arguments.rotations),
        f"{expected * PERIOD_NS / 1e9:.1f}",
        *(f"{expected:.0f}", f"{found:.0f}", f"{told:.0f}", f"{lost_ms:.2f}"),
        *(f"{np.median(gaps):.1f} / {max(gaps):.0f}" if len(gaps) else "-" for gaps in (within, across)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--async-profiler", type=Path, required=True, metavar="JAR")
    parser.add_argument("--java", action="append", required=True, metavar="VERSION=HOME")
    parser.add_argument("--rotations", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=1)
    arguments = parser.parse_args()
    homes = dict(each.split("=", 1) for each in arguments.java)
    heads = ["Java", "way", "rotations", "CPU s", "due", "found", "told lost", "lost ms each"]
    print("| " + " | ".join([*heads, "gap ms within, median / max", "across"]) + " |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as classes:
        javac = Path(next(iter(homes.values()))) / "bin/javac"
        where = ["-cp", class_path(Path(classes)), "-d", classes]
        subprocess.run([javac, "-nowarn", "-encoding", "UTF-8", *where, PROGRAM], check=True)
        for version, home in homes.items():
            for way, settings in WAYS.items():
                row = measured(Path(home), Path(classes), settings, arguments)
                print("| " + " | ".join([version, way, *row]) + " |", flush=True)


if __name__ == "__main__":
    main()
