"""Whether the recorder stays as small as it began: a streaming job with restarts and executors killed, for long.

usage: long_run.py [--minutes 60] [--kill-seconds 120] [--chunk-seconds 10] [--off] [--scratch DIR] [-o RESULT.json]

The job runs by `emberscope run` in a local cluster of two executors. Every so often one of them is killed (SIGKILL);
the query is stopped and started again. Meanwhile, of each JVM: objects that live after a full collection (all, and
those of the recorder and of Flight Recorder), native memory of Flight Recorder (HotSpot's own count), resident memory;
of disk: files and bytes of Flight Recorder's repositories. And the run is read, as it is then. The table gives first
and last value of the driver, which lives as long as the job, and the slope of each with its 95 % interval. Looks that
follow each other are alike, so that the interval counts as many of them as are worth independent ones.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.overhead_ratios import STUDENT

JOB = Path(__file__).parents[1] / "tests" / "jobs" / "streaming_job.py"
OURS = re.compile(r"(io\.emberscope\.|jdk\.jfr\.|\[?L?jdk\.jfr|\[Lio\.emberscope)")
LOOK_SECONDS = 15.0
READ_SECONDS = 60.0
WARM_SECONDS = 120.0
"""What is measured before is not in the slopes: caches fill and code is compiled."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kill-seconds", type=float, default=120)
    parser.add_argument("--restart-seconds", type=float, default=90)
    parser.add_argument("--chunk-seconds", type=int, default=10)
    parser.add_argument("--off", action="store_true", help="the same job without the recorder, to compare with")
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        result = measure(Path(scratch), options)
    if options.output:
        options.output.write_text(json.dumps(result, indent=1))
    print(table(result))
    sys.exit(0 if result["exit_code"] == 0 and not result["unreadable"] else 1)


def measure(scratch: Path, options: argparse.Namespace) -> dict[str, Any]:
    place = scratch / "tmp"
    place.mkdir()
    store = scratch / "store"
    java = f"-Djava.io.tmpdir={place} -XX:NativeMemoryTracking=summary"
    settings = {
        "spark.emberscope.enabled": "false" if options.off else "true",
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.minBatchesToRetain": "5",
        "spark.executor.extraJavaOptions": java,
    }
    command = [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(store)]
    command += ["--chunk-seconds", str(options.chunk_seconds), "--", str(Path(sys.executable).parent / "spark-submit")]
    command += ["--master", "local-cluster[2,1,1024]", "--driver-memory", "512m", "--driver-java-options", java]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += [str(JOB), str(options.minutes), str(options.restart_seconds), str(scratch / "checkpoint")]
    begin = time.monotonic()
    looks: list[dict[str, Any]] = []
    read: list[dict[str, Any]] = []
    killed: list[float] = []
    next_kill, next_read = options.kill_seconds, READ_SECONDS
    with (scratch / "out").open("w") as out, (scratch / "err").open("w") as err:
        job = subprocess.Popen(command, stdout=out, stderr=err, cwd=scratch, env=_environment())
        try:
            while job.poll() is None:
                time.sleep(LOOK_SECONDS)
                now = time.monotonic() - begin
                jvms = _jvms(job.pid)
                looks += [{"s": now} | _look(pid, role, place) for pid, role in jvms.items()]
                executors = [pid for pid, role in jvms.items() if role == "executor"]
                if now >= next_kill and executors:
                    with suppress(ProcessLookupError):
                        os.kill(executors[len(killed) % len(executors)], signal.SIGKILL)
                        killed.append(now)
                    next_kill = now + options.kill_seconds
                if now >= next_read and not options.off:
                    read.append({"s": now} | _read(store))
                    next_read = now + READ_SECONDS
        finally:
            if job.poll() is None:
                job.terminate()  # it passes that on to Spark
                job.wait()
    if not options.off:
        read.append({"s": time.monotonic() - begin, "end": True} | _read(store))
    return {
        "minutes": options.minutes,
        "exit_code": job.returncode,
        "output": (scratch / "out").read_text().strip(),
        "killed": len(killed),
        "looks": [look for look in looks if "rss_bytes" in look],
        "read": read,
        "unreadable": [one for one in read if "error" in one],
        "left_in_tmp": sorted(str(path.relative_to(place)) for path in place.rglob("*.jfr")),
        "store_bytes": sum(path.stat().st_size for path in store.rglob("*") if path.is_file()),
    }


def _environment() -> dict[str, str]:
    return os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


def _jvms(root: int) -> dict[int, str]:
    """Drivers and executors below a process, by what their command line says."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {}
    for pid in parents:
        above = pid
        while above in parents and above != root:
            above = parents[above]
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if above == root and b"org.apache.spark.deploy.SparkSubmit" in words:
            found[pid] = "driver"
        elif above == root and any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
            found[pid] = "executor"
    return found


def _recordings(place: Path) -> list[Path]:
    """Spark makes and removes directories there all the while: os.walk passes over what has gone."""
    names = (Path(folder) / name for folder, _, files in os.walk(place) for name in files)
    return [path for path in names if path.suffix == ".jfr" and path.exists()]


def _look(pid: int, role: str, place: Path) -> dict[str, Any]:
    """Memory of one JVM and the disk that all of them use; without `rss_bytes` where the JVM ended meanwhile."""
    live = own = 0
    for line in _jcmd(pid, "GC.class_histogram").splitlines():
        fields = line.split()
        if len(fields) >= 4 and fields[0].endswith(":") and fields[2].isdigit():
            live += int(fields[2])
            own += int(fields[2]) if OURS.match(fields[3]) else 0
    native = re.search(r"Tracing \(reserved=\d+KB, committed=(\d+)KB\)", _jcmd(pid, "VM.native_memory", "summary"))
    files = _recordings(place)
    out: dict[str, Any] = {"pid": pid, "role": role, "repository_files": len(files)}
    out["repository_bytes"] = sum(_size(path) for path in files)
    try:
        rss = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        rss = None
    if rss and live:
        tracing = int(native[1]) * 1024 if native else 0
        out |= {"live_heap_bytes": live, "own_heap_bytes": own, "jfr_native_bytes": tracing}
        out["rss_bytes"] = int(rss[1]) * 1024
    return out


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _jcmd(pid: int, *what: str) -> str:
    """What it prints; nothing where the JVM ends meanwhile or does not answer."""
    try:
        return subprocess.run(["jcmd", str(pid), *what], capture_output=True, text=True, timeout=60).stdout
    except subprocess.TimeoutExpired:
        return ""


def _read(store: Path) -> dict[str, Any]:
    """The run as it is now, read in a process of its own."""
    code = (
        "import json, sys; from emberscope.sources.run import load_run; run = load_run(sys.argv[1]);"
        "print(json.dumps({'samples': run.tables['samples'].num_rows, 'chunks': len(run.recordings)}))"
    )
    runs = [path.parent for path in store.rglob("application.json")]
    if len(runs) != 1:
        return {"error": f"{len(runs)} runs"}
    ran = subprocess.run([sys.executable, "-c", code, str(runs[0])], capture_output=True, text=True)
    return json.loads(ran.stdout) if ran.returncode == 0 else {"error": ran.stderr[-500:]}


def slope(times: list[float], values: list[float]) -> tuple[float, float]:
    """Least squares: change per second, and half the width of its 95 % interval.

    What is left over from one look to the next is correlated (r): n of them are worth n (1 - r) / (1 + r).
    """
    n = len(times)
    mean_t, mean_v = sum(times) / n, sum(values) / n
    spread = sum((t - mean_t) ** 2 for t in times)
    rate = sum((t - mean_t) * (v - mean_v) for t, v in zip(times, values, strict=True)) / spread
    left = [v - mean_v - rate * (t - mean_t) for t, v in zip(times, values, strict=True)]
    rest = sum(one**2 for one in left)
    alike = max(0.0, sum(one * other for one, other in pairwise(left)) / rest) if rest else 0.0
    worth = max(3.0, n * (1 - alike) / (1 + alike))
    student = STUDENT[min(round(worth) - 2, len(STUDENT)) - 1]
    return rate, student * math.sqrt(rest / (worth - 2) / spread) if rest else 0.0


def table(result: dict[str, Any]) -> str:
    driver = [look for look in result["looks"] if look["role"] == "driver" and look["s"] >= WARM_SECONDS]
    lines = [
        f"{result['minutes']:g} minutes, {result['killed']} executors killed, {result['output']}, exit code "
        f"{result['exit_code']}; read {len(result['read'])} times, {len(result['unreadable'])} failed; "
        f"store {result['store_bytes'] / 1e6:.1f} MB; {len(result['left_in_tmp'])} files left by killed JVMs",
        "",
        "| of the driver | first | last | most | slope per hour, 95 % |",
        "| --- | --- | --- | --- | --- |",
    ]
    names = ("own_heap_bytes", "live_heap_bytes", "jfr_native_bytes", "rss_bytes", "repository_bytes")
    for name in names if len(driver) > 3 else ():
        values = [float(look[name]) for look in driver]
        rate, half = (3600 * one / 1e6 for one in slope([look["s"] for look in driver], values))
        row = (f"{value / 1e6:.2f} MB" for value in (values[0], values[-1], max(values)))
        lines.append(f"| {name} | {' | '.join(row)} | {rate:+.2f} ± {half:.2f} MB |")
    executors = [look for look in result["looks"] if look["role"] == "executor"]
    if executors:
        most = {name: max(look[name] for look in executors) / 1e6 for name in ("own_heap_bytes", "jfr_native_bytes")}
        lines += ["", "most of any executor: " + ", ".join(f"{name} {value:.2f} MB" for name, value in most.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
