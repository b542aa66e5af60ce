"""Recordings for the benchmarks and oracles of the JFR reader.

    python benchmarks/recordings_make.py DIRECTORY --java 17=HOME --java 25=HOME [--async-profiler LIBRARY]

Records executors of `recordings_work.py` (Spark of this environment, on local-cluster) and leaves in DIRECTORY:

- `m-50mb-jdk17.jfr`, `m-50mb-jdk25.jfr`: an executor with every event on, thresholds 0, stacks everywhere, sampled
  every millisecond (on 25 by CPU time too), in chunks of 12 MB, the JDK's own size.
- `s-2mb.jfr`: one executor (17), the JDK's settings `profile`. This and the following have no NativeMethodSample: `jfr
  scrub` of 25 took them out, because jfrconv cannot tell them from ExecutionSample in files of the JDK.
- `m-50mb.jfr`: `m-50mb-jdk17.jfr` without them.
- `l-100mb.jfr`: that and then its sibling executor of the same application, one file after the other (`cat`).
- `xl-1gb.jfr`: `l-100mb.jfr` as often as it takes to 1 GiB.
- `ap-cpu-wall-alloc-lock.jfr`, `ap-live.jfr`, `ap-jfrsync.jfr` with `--async-profiler` (`libasyncProfiler.so`, in the
  jar `tools.profiler:async-profiler` of Maven Central): an executor (17) under async-profiler. Its event cpu falls
  back to a timer where perf events are not allowed.

What is there already is not made again. It takes some ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

WORK = Path(__file__).with_name("recordings_work.py")
GIB = 1 << 30


def every_event(java_home: str, target: Path) -> None:
    """The JDK's `profile` settings with all events on, no thresholds, stacks, and samples every millisecond."""
    tree = ET.parse(Path(java_home) / "lib" / "jfr" / "profile.jfc")
    root = tree.getroot()
    for control in root.findall("control"):
        root.remove(control)
    for event in root.iter("event"):
        name = event.get("name", "")
        for setting in event.findall("setting"):
            setting.attrib.pop("control", None)
            kind = setting.get("name")
            if kind in ("enabled", "stackTrace"):
                setting.text = "true"
            elif kind == "threshold":
                setting.text = "0 ns"
            elif kind == "period" and name.endswith(("ExecutionSample", "NativeMethodSample")):
                setting.text = "1 ms"
            elif kind == "throttle":
                setting.text = "1 ms" if name == "jdk.CPUTimeSample" else "off"
    tree.write(target, encoding="UTF-8", xml_declaration=True)


def work(java_home: str, cluster: str, options: str, repository: Path, megabytes: float) -> None:
    """One Spark application whose executors get these JVM options; their chunks grow under `repository`."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "768m",
        "spark.memory.fraction": "0.3",
        "spark.sql.shuffle.partitions": "6",
        "spark.executor.extraJavaOptions": options,
    }
    submit = Path(sys.executable).with_name("spark-submit")
    command = [str(submit), "--master", cluster]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    surroundings = {
        key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "JAVA_TOOL"))
    }
    surroundings |= {"JAVA_HOME": java_home, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ran = subprocess.run(
        [*command, str(WORK), str(repository), str(megabytes)], env=surroundings, capture_output=True, text=True
    )
    if ran.returncode:
        sys.exit(f"{ran.stdout[-3000:]}{ran.stderr[-3000:]}\nthe Spark job failed")


def recorded(java_home: str, settings: str, megabytes: float, executors: int) -> list[bytes]:
    """The recordings of the executors, the largest first: it has `megabytes` or more."""
    with tempfile.TemporaryDirectory() as scratch:
        repository, out = Path(scratch) / "repository", Path(scratch) / "out"
        repository.mkdir()
        out.mkdir()
        if settings == "all":
            every_event(java_home, Path(scratch) / "all.jfc")
            settings = f"{scratch}/all.jfc"
        options = (
            f"-XX:FlightRecorderOptions=repository={repository}/{{{{EXECUTOR_ID}}}} "
            f"-XX:StartFlightRecording=settings={settings},dumponexit=true,filename={out}/{{{{EXECUTOR_ID}}}}.jfr"
        )
        work(java_home, f"local-cluster[{executors},2,1536]", options, repository, megabytes)
        return sorted((file.read_bytes() for file in out.glob("*.jfr")), key=len, reverse=True)


def scrubbed(java_home: str, recording: bytes) -> bytes:
    """The same without samples in native methods. Takes a JDK of 19 or newer."""
    with tempfile.TemporaryDirectory() as scratch:
        whole, rest = Path(scratch) / "whole.jfr", Path(scratch) / "rest.jfr"
        whole.write_bytes(recording)
        command = [f"{java_home}/bin/jfr", "scrub", "--exclude-events", "jdk.NativeMethodSample", str(whole), str(rest)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return rest.read_bytes()


def profiled(java_home: str, library: Path, options: str) -> bytes:
    """What async-profiler wrote of one executor."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "repository" / "0"
        out.mkdir(parents=True)
        agent = f"-agentpath:{library.resolve()}=start,{options},file={out}/profile.jfr"
        work(java_home, "local-cluster[1,2,1536]", agent, out.parent, 0)
        return (out / "profile.jfr").read_bytes()


PROFILER_OPTIONS = {
    "ap-cpu-wall-alloc-lock.jfr": "event=cpu,interval=1ms,wall=20ms,alloc=64k,lock=10us,nativemem=256k,loop=1h",
    "ap-live.jfr": "event=cpu,interval=10ms,alloc=64k,live",
    "ap-jfrsync.jfr": "event=cpu,interval=5ms,alloc=256k,jfrsync=profile",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--java", action="append", default=[], metavar="VERSION=HOME", help="17=HOME, 25=HOME")
    parser.add_argument("--async-profiler", type=Path, metavar="LIBRARY")
    given = parser.parse_args()
    homes = dict(each.split("=", 1) for each in given.java)
    to: Path = given.directory
    to.mkdir(parents=True, exist_ok=True)

    def missing(name: str) -> bool:
        return not (to / name).exists()

    def put(name: str, data: bytes) -> None:
        part = to / f"{name}.part"
        part.write_bytes(data)
        part.rename(to / name)
        print(f"{name}: {len(data):,} bytes", flush=True)

    if {"17", "25"} <= homes.keys():
        if missing("s-2mb.jfr"):
            put("s-2mb.jfr", scrubbed(homes["25"], recorded(homes["17"], "profile", 1.6, 1)[0]))
        if missing("m-50mb-jdk17.jfr") or missing("l-100mb.jfr"):
            first, second = recorded(homes["17"], "all", 53, 2)
            put("m-50mb-jdk17.jfr", first)
            first = scrubbed(homes["25"], first)
            put("m-50mb.jfr", first)
            put("l-100mb.jfr", first + scrubbed(homes["25"], second))
    if "17" in homes and given.async_profiler:
        for name, options in PROFILER_OPTIONS.items():
            if missing(name):
                put(name, profiled(homes["17"], given.async_profiler, options))
    if "25" in homes and missing("m-50mb-jdk25.jfr"):
        put("m-50mb-jdk25.jfr", recorded(homes["25"], "all", 53, 1)[0])
    if missing("xl-1gb.jfr") and not missing("l-100mb.jfr"):
        large, part = to / "l-100mb.jfr", to / "xl-1gb.jfr.part"
        with part.open("wb") as target:
            while target.tell() < GIB:
                with large.open("rb") as source:
                    shutil.copyfileobj(source, target, 1 << 20)
        part.rename(to / "xl-1gb.jfr")
        print(f"xl-1gb.jfr: {(to / 'xl-1gb.jfr').stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
