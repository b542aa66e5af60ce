"""How long after SIGTERM the last chunk is in the store: `loss_exit.py [--java JAVA] [--times N]`.

A JVM that records (5 s chunks, a busy thread, short tasks) gets SIGTERM at a random moment. YARN gives its containers
250 ms from there to SIGKILL, a standalone worker 10 s. The manifest is the last thing that is written of a chunk; the
last of all engines counts. Where an engine did not close its recording the end never came: it is not within any time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.jvm import toolchain

CHUNK_SECONDS = 5
YARN_MS = 250


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--java", type=Path, help="home of a JDK; all that are found where it is left out")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    moments = random.Random(given.seed)
    print("| JDK | ends | chunk kB | signal to last manifest: median, most ms | within 250 ms | signal to exit ms |")
    print("|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as directory:
        classes = Path(directory) / "classes"
        sources = toolchain.sources(toolchain.ROOT / "tests" / "jvm" / "java")
        toolchain.javac("-nowarn", "-encoding", "UTF-8", "-cp", toolchain.class_path(), "-d", classes, *sources)
        for home in [given.java] if given.java else toolchain.jdk_homes():
            ends = []
            for number in range(given.times):
                scratch = Path(directory) / f"{home.name}-{number}"
                ends.append(end_once(home, classes, scratch, moments.uniform(0, CHUNK_SECONDS)))
            manifests, exits, sizes, closed = zip(*ends, strict=True)
            within = sum(ms <= YARN_MS for ms in manifests)
            print(
                f"| {home.name} | {sum(closed)} of {len(ends)} | {statistics.median(sizes) / 1000:.0f} "
                f"| {statistics.median(manifests):.0f}, {max(manifests):.0f} | {within} "
                f"| {statistics.median(exits):.0f}, {max(exits):.0f} |",
                flush=True,
            )
            good = good and all(closed)
    return 0 if good else 1


def end_once(home: Path, classes: Path, scratch: Path, seconds: float) -> tuple[float, float, int, bool]:
    """Ms from the signal to the last manifest and to the exit, bytes of the last chunks, and whether all are closed."""
    store, spool = scratch / "store", scratch / "spool"
    spool.mkdir(parents=True)
    command = [str(home / "bin" / "java"), "-Xmx256m", "-cp", toolchain.class_path(classes), "io.emberscope.Killed"]
    command += [str(store), "nothing", f"chunk.seconds={CHUNK_SECONDS}", f"spool={spool}"]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            while len(list(store.rglob("*.json"))) < 2:
                if process.poll() is not None:
                    raise RuntimeError("the program that is to be ended ended by itself")
                time.sleep(0.05)
            time.sleep(seconds)
            began = time.time()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
            exited_ms = (time.time() - began) * 1000
        finally:
            process.kill()
    newest: dict[str, tuple[int, float, dict[str, Any]]] = {}
    for path in store.rglob("*.json"):
        manifest = json.loads(path.read_bytes())
        if "engine" in manifest and manifest["sequence"] >= newest.get(manifest["engine"], (-1,))[0]:
            newest[manifest["engine"]] = manifest["sequence"], path.stat().st_mtime, manifest
    closed = all(manifest["last"] for _, _, manifest in newest.values())
    size = sum(manifest["bytes"] for _, _, manifest in newest.values())
    took_ms = (max(written for _, written, _ in newest.values()) - began) * 1000
    return took_ms if closed else math.inf, exited_ms, size, closed


if __name__ == "__main__":
    sys.exit(main())
