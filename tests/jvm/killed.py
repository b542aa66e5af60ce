"""A JVM that records until it is killed, and what it leaves."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from emberscope.recorder.spools import sweep
from tests.jvm import toolchain

SECRET = "correct-horse-battery"
HEADER_BYTES, STATE = 68, 64


class Process:
    """A recording JVM with its spool and its store below `scratch`."""

    def __init__(self, home: Path, classes: Path, scratch: Path, *flags: str, **settings: str) -> None:
        self.java = str(home / "bin" / "java")
        self.place = scratch / "disk"
        self.place.mkdir(exist_ok=True)
        self.store = scratch / "store"
        self.run = self.store / "default" / "app-1" / "1"
        chosen = {"chunk.seconds": "2", "spool": str(self.place), "events": "cpu,alloc,lock,gc"} | settings
        command = [self.java, "-Xmx256m", *flags, "-cp", toolchain.class_path(classes), "io.emberscope.Killed"]
        command += [str(self.store), SECRET, *(f"{name}={value}" for name, value in chosen.items())]
        self.said_tasks = scratch / "tasks"
        with self.said_tasks.open("w") as out:
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "MY_TOKEN": SECRET},
            )

    def until(self, chunks: int) -> None:
        """Lets it run until so many chunks are in the store, and something of the next one is on the disk."""
        while len(self.manifests()) < chunks or not self._has_begun_another():
            self.wait()

    def _has_begun_another(self) -> bool:
        for path in self.place.rglob("*.jfr"):
            data = path.read_bytes()[:HEADER_BYTES]
            if len(data) == HEADER_BYTES and data[STATE] and int.from_bytes(data[8:16], "big") > HEADER_BYTES:
                return True
        return False

    def wait(self) -> None:
        assert self.process.poll() is None, "it ended by itself"
        time.sleep(0.02)

    def _tasks(self) -> int:
        return self.said_tasks.read_bytes().count(b"\n")

    def end(self, way: signal.Signals = signal.SIGKILL) -> int:
        """Ends it, and gives the number of the last task that had ended before."""
        self.process.send_signal(way)
        self.process.wait(timeout=60)
        return self._tasks() - 1

    def manifests(self) -> list[dict[str, Any]]:
        found = [json.loads(path.read_text()) for path in self.store.rglob("recordings/*/*.json")]
        return sorted(found, key=lambda manifest: manifest["sequence"])

    def said(self) -> dict[str, Any]:
        return {"app_id": "app-1", "attempt": "1", "spools": [str(self.place)]}

    def sweep(self) -> str | None:
        return sweep(self.run, self.said(), java=self.java, jar=toolchain.JAR)

    def spools(self) -> list[Path]:
        return sorted(self.place.glob("emberscope-*/process-*"))

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.store.rglob("*") if path.is_file()}
