"""A run as the recorder leaves it, put together from real parts: an event log of Spark 3.5 and two recordings."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"
LOG = DATA / "eventlog/spark-3.5-app-20261130083809-0000.gz"
APP_ID = "app-20261130083809-0000"
STARTED_MS = 1796027884872
ENDED_MS = 1796027941347


def recording(name: str) -> bytes:
    return gzip.decompress((DATA / "jfr" / f"{name}.jfr.gz").read_bytes())


def add_chunk(run: Path, executor: str, sequence: int, data: bytes, **manifest: Any) -> Path:
    """A chunk with its manifest; what is not given is as for a healthy last chunk."""
    role = "driver" if executor == "driver" else "executor"
    path = run / "recordings" / f"{role}-{executor}" / f"{STARTED_MS}-{sequence:06d}.jfr"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    known = {
        "schema": "emberscope.chunk/1",
        "role": role,
        "executor_id": executor,
        "host": "h1",
        "sequence": sequence,
        "first_ms": STARTED_MS + 10_000,
        "last_ms": STARTED_MS + 20_000,
        "engine": "jfr",
        "jdk": "17.0.15",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "sample_period_ns": 20_000_000,
        "last": True,
        "lost": {"chunks": 0, "bytes": 0, "seconds": 0},
    }
    path.with_suffix(".json").write_text(json.dumps(known | manifest))
    return path


def add_application(run: Path, **said: Any) -> None:
    run.mkdir(parents=True, exist_ok=True)
    known = {
        "schema": "emberscope.application/1",
        "app_id": APP_ID,
        "attempt": "1",
        "app_name": "logged-job",
        "started_ms": STARTED_MS,
        "master": "local-cluster[2,1,512]",
        "engine": "jfr",
        "events": ["cpu"],
        "sample_period_ns": 20_000_000,
        "chunk_seconds": 30,
        "recorder_version": "0.1.0",
        "invocation": "i1",
        "event_log_enabled": True,
        "event_log_dir": "hdfs:///logs",
    }
    (run / "application.json").write_text(json.dumps(known | said))


def whole_run(store: Path) -> Path:
    """A run with nothing missing: an event log, and a closed recording of each of its two executors."""
    run = store / "default" / APP_ID / "1"
    add_application(run)
    (run / "eventlog").mkdir()
    shutil.copy(LOG, run / "eventlog" / APP_ID)
    add_chunk(run, "0", 0, recording("workload-jdk17"))
    add_chunk(run, "1", 0, recording("workload-jdk17"))
    return run
