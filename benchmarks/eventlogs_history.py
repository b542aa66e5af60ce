"""Spark's own History Server on one event log: how much work until it answers for the stages.

    python benchmarks/eventlogs_history.py LOG [--heap 1g] [--unlimited]

LOG is a plain file. The server is that of the `pyspark` package, in memory as it comes; it is started, asked for the
application's stages, and stopped. With --unlimited the limits are raised beyond which it forgets stages, jobs and
tasks. Prints one line of JSON: CPU and wall seconds, peak MiB, and how many stages it gave.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

SECONDS = 600
OPENS = (
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)
LIMITS = (
    "spark.ui.retainedTasks",
    "spark.ui.retainedStages",
    "spark.ui.retainedJobs",
    "spark.sql.ui.retainedExecutions",
    "spark.ui.retainedDeadExecutors",
)


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def command(logs: str, port: int, heap: str, unlimited: bool) -> list[str]:
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    settings = {
        "spark.history.fs.logDirectory": f"file://{logs}",
        "spark.history.ui.port": str(port),
        "spark.history.fs.update.interval": "10s",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.host": "127.0.0.1",
        **(dict.fromkeys(LIMITS, "100000000") if unlimited else {}),
    }
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENS]
    options = [f"-D{key}={value}" for key, value in settings.items()]
    main = "org.apache.spark.deploy.history.HistoryServer"
    return ["java", f"-Xmx{heap}", *opens, "-cp", f"{jars}/*", *options, main]


def ask(port: int, path: str, seconds: float) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=seconds) as answer:
        return json.load(answer)


def first_application(port: int, server: subprocess.Popen[bytes], until: float) -> tuple[str, str]:
    """Id and attempt, as part of a path, of the application, once it is listed."""
    while time.monotonic() < until and server.poll() is None:
        try:
            if found := ask(port, "applications", 30):
                attempt = found[0]["attempts"][0].get("attemptId")
                return found[0]["id"], f"/{attempt}" if attempt else ""
        except (urllib.error.URLError, OSError, ValueError):
            pass
        time.sleep(0.1)
    sys.exit("the History Server did not list the application")


def usage(pid: int) -> tuple[float, float]:
    """CPU seconds and peak MiB of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return ticks / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024


def measure(log: Path, heap: str, unlimited: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        logs = Path(directory, "logs")
        logs.mkdir()
        os.symlink(log.resolve(), logs / "application")  # what is behind a dot in the name would be a codec
        port = free_port()
        start = time.monotonic()
        server = subprocess.Popen(
            command(str(logs), port, heap, unlimited),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=directory,
            env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        )
        try:
            app, attempt = first_application(port, server, start + SECONDS)
            stages = ask(port, f"applications/{app}{attempt}/stages", SECONDS)
            wall_s = time.monotonic() - start
            cpu_s, peak_mib = usage(server.pid)
        finally:
            server.kill()
            server.wait()
    return {"cpu_s": cpu_s, "wall_s": wall_s, "peak_mib": peak_mib, "stages": len(stages)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--unlimited", action="store_true")
    given = parser.parse_args()
    print(json.dumps(measure(given.log, given.heap, given.unlimited)))


if __name__ == "__main__":
    main()
