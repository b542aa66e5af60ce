"""A History Server of the installed pyspark over some event logs, and what its REST API says of each application."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark

from emberscope.eventlog.codecs import PLAIN, codec_of, decompress

# Without these it forgets most of a large log, and says nothing.
LIMITS = {
    "spark.ui.retainedJobs": 1_000_000,
    "spark.ui.retainedStages": 1_000_000,
    "spark.ui.retainedTasks": 10_000_000,
    "spark.ui.retainedDeadExecutors": 1_000_000,
    "spark.sql.ui.retainedExecutions": 1_000_000,
}
# How long it may take until it answers at all.
START_S = 300
SUFFIXES = {"zstd": ".zstd", "lz4": ".lz4", "snappy": ".snappy", "lzf": ".lzf"}
PARTS = {
    "stages": "stages?details=false",
    "jobs": "jobs",
    "executors": "allexecutors",
    "storage": "storage/rdd",
    "sql": "sql?offset=0&length=1000000&details=true&planDescription=false",
}


@dataclass(frozen=True)
class Server:
    port: int

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=600) as answer:
            return json.load(answer)

    def listed(self, expected: set[str], patience_s: float) -> dict[str, str]:
        """The path of each expected application, as soon as all are listed or none has come for some time."""
        found: dict[str, str] = {}
        started = changed = time.monotonic()
        while expected - found.keys() and time.monotonic() - changed < patience_s:
            time.sleep(1)
            try:
                applications = self.get("applications")
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() - started < START_S:
                    changed = time.monotonic()
                continue
            for application in applications:
                attempt = application["attempts"][0].get("attemptId")
                path = "/".join(["applications", application["id"], *([attempt] if attempt else [])])
                if application["id"] not in found:
                    found[application["id"]] = path
                    changed = time.monotonic()
        return found

    def says(self, application: str) -> dict[str, Any]:
        """All parts of the API that are compared, of one application."""
        return {name: self._part(f"{application}/{path}") for name, path in PARTS.items()}

    def _part(self, path: str) -> Any:
        try:
            return self.get(path)
        except urllib.error.HTTPError as error:
            # What an application without any SQL event has as its executions, where it has an attempt's number.
            if error.code == 404 and "/sql?" in path:
                return []
            raise


@contextmanager
def history_server(folder: Path, log: Path, heap: str = "2g") -> Iterator[Server]:
    """Runs over the event logs in `folder` and writes what it prints to `log`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    jars = Path(pyspark.__file__).parent / "jars"
    settings = {"spark.history.fs.logDirectory": folder.as_uri(), "spark.history.ui.port": port, **LIMITS}
    java = Path(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
    command = [
        str(java),
        f"-Xmx{heap}",
        "-cp",
        f"{jars}/*",
        *(f"-D{key}={value}" for key, value in settings.items()),
        "org.apache.spark.deploy.history.HistoryServer",
    ]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        try:
            yield Server(port)
        finally:
            process.terminate()
            process.wait()


def offer(log: Path, folder: Path) -> None:
    """Puts an event log where a History Server finds it.

    One whose name does not tell its codec, or that is cut, becomes plain text; if cut, that of an application which
    still runs: only there does the server forgive a last line that is not whole.
    """
    if log.is_dir():
        (folder / log.name).symlink_to(log.resolve(), target_is_directory=True)
        return
    with open(log, "rb") as stream:
        codec = codec_of(stream.read(64))
        stream.seek(0)
        damage: list[str] = []
        last = b"\n"
        with open(folder / log.name.partition(".")[0], "wb") as plain:
            for piece in decompress(stream, codec, damage):
                plain.write(piece)
                last = piece[-1:]
        if damage or last != b"\n":
            Path(plain.name).rename(f"{plain.name}.inprogress")
        elif codec == PLAIN or log.name.removesuffix(".inprogress").endswith(SUFFIXES.get(codec, "\0")):
            Path(plain.name).unlink()
            shutil.copyfile(log, folder / log.name)
