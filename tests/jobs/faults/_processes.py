"""The executors of a local cluster as processes of this machine, which a job can slow down or end."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession


def executor_pid(spark: SparkSession, executor_id: str) -> int:
    """The process of an executor of local-cluster: a child of the driver's JVM."""
    jvm = spark._jvm
    assert jvm is not None
    driver = int(jvm.java.lang.ProcessHandle.current().pid())
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it ended meanwhile
        if parent == driver and "--executor-id" in words and words[words.index("--executor-id") + 1] == executor_id:
            return int(place.name)
    raise LookupError(f"there is no executor {executor_id} on this machine")


class Slowed:
    """While it is entered, a process runs in `running_ms` of each `period_ms` only, as on an overloaded machine."""

    def __init__(self, pid: int, running_ms: int, period_ms: int) -> None:
        self._pid = pid
        self._running, self._stopped = running_ms / 1000, (period_ms - running_ms) / 1000
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._alternate, daemon=True)

    def __enter__(self) -> Slowed:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _alternate(self) -> None:
        try:
            while not self._over.is_set():
                os.kill(self._pid, signal.SIGSTOP)
                time.sleep(self._stopped)
                os.kill(self._pid, signal.SIGCONT)
                time.sleep(self._running)
        except ProcessLookupError:
            pass  # the executor is gone
