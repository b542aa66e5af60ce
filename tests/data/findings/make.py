"""Makes the event logs of this folder: runs each job of `tests/jobs/findings_*.py`, and the jobs of `tests/jobs/faults`
that stand below with their healthy twins, with the pyspark that is installed, and scrubs what names the machine.

    SPARK_LOCAL_IP=127.0.0.1 python tests/data/findings/make.py [NAME...]

The logs are what Spark wrote, less the class path, the JVM's and Hadoop's properties and the accumulables that only
repeat task metrics; the checkout's path becomes /app and the user `someone`. Wants a quiet machine of two cores.
"""

import getpass
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import zstandard

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_ENVIRONMENT = ("Hadoop Properties", "System Properties", "Metrics Properties", "Classpath Entries")


# The scale of each fault's logs: faulty, healthy (0: none is kept).
FAULTS = {
    "broadcast_too_large": (0.2, 1.0),
    "cache_never_read": (0.2, 0.2),
    "driver_collect": (0.7, 0.7),
    "idle_executors": (0.5, 0.0),
    "too_few_partitions": (0.5, 0.5),
    "too_many_partitions": (0.15, 0.15),
    "disk_full": (1.0, 0.3),
    "executor_imbalance": (1.0, 0.3),
    "exploding_join": (0.6, 0.6),
    "fetch_failure": (1.0, 0.3),
    "gc": (0.25, 0.25),
    "listener_overload": (1.0, 0.3),
    "python_udf": (0.05, 0.05),
    "repeated_scan": (0.1, 0.1),
    "single_thread_write": (1.0, 1.0),
    "skewed_join": (1.0, 0.3),
    "slow_node": (1.0, 0.3),
    "slow_read": (1.0, 0.3),
    "small_files": (0.2, 1.0),
    "speculation_waste": (1.0, 0.3),
    "python_memory": (0.1, 0.1),
    "spill": (0.25, 0.25),
}


def lines_of(log: Path) -> Iterator[bytes]:
    """The lines of a log in one file, or of a rolling log's only part."""
    (part,) = log.glob("events_1_*.zstd") if log.is_dir() else (log,)
    with part.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
        yield from reader.read().splitlines()


def scrubbed(line: bytes) -> bytes:
    text = line.decode()
    for found, instead in (
        (str(ROOT), "/app"),
        (sys.prefix, "/venv"),
        (str(Path.home()), "/home/someone"),
        (tempfile.gettempdir(), "/scratch"),
        (socket.gethostname(), "host-1"),
    ):
        text = text.replace(found, instead)
    event = json.loads(text)
    if event["Event"] == "SparkListenerEnvironmentUpdate":
        for part in _ENVIRONMENT:
            event.pop(part, None)
        event["JVM Information"].pop("Java Home", None)
    if event.get("User") == getpass.getuser():
        event["User"] = "someone"
    if event["Event"] == "SparkListenerTaskEnd":
        accumulables = event["Task Info"]["Accumulables"]
        event["Task Info"]["Accumulables"] = [a for a in accumulables if not a.get("Internal")]
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def make(job: Path) -> None:
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, str(job), directory], check=True)
        (log,) = Path(directory).glob("eventlog_v2_*")
        text = b"".join(scrubbed(line) for line in lines_of(log))
    (HERE / f"{job.stem}.zstd").write_bytes(zstandard.ZstdCompressor(level=19).compress(text))


def make_fault(fault: str, scale: float, *, healthy: bool) -> None:
    twin = ["--healthy"] if healthy else []
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "tests.jobs.faults", fault, "--scale", str(scale), "--log-dir", directory]
        subprocess.run([*command, *twin], cwd=ROOT)  # some faults end their job
        (log,) = Path(directory).glob("app-*")
        text = b"".join(scrubbed(line) for line in lines_of(log))
    name = f"{fault}_healthy" if healthy else fault
    (HERE / f"{name}.zstd").write_bytes(zstandard.ZstdCompressor(level=19).compress(text))


if __name__ == "__main__":
    for path in sorted((ROOT / "tests" / "jobs").glob("findings_*.py")):
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            make(path)
    for fault, scales in FAULTS.items():
        if len(sys.argv) == 1 or fault in sys.argv[1:]:
            for scale, healthy in zip(scales, (False, True), strict=True):
                if scale:
                    make_fault(fault, scale, healthy=healthy)
