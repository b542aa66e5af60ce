"""Waiting for executors that outlive the driver: they are told to end with it, and close their recordings after it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from emberscope.sources.lost import by_executor
from emberscope.store.chunks import chunks_of

LONGEST_SECONDS: Final = 10
"""A standalone worker gives its executors 10 s to end."""

QUIET_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.1


def settle(run: Path, *, master: str | None, chunk_seconds: float) -> None:
    """Return when the recordings of a run have come to rest: all are closed, or nobody writes any more.

    A process whose last chunk is long past died earlier and is not waited for. With the master `local` the driver is
    all there is, and it has ended.
    """
    if (master or "").partition("[")[0] == "local":
        return
    deadline = time.monotonic() + LONGEST_SECONDS
    ended_ms = time.time() * 1000
    seen: set[str] = set()
    changed = time.monotonic()
    while time.monotonic() < deadline:
        files = {str(path) for path in (run / "recordings").rglob("*")}
        if files != seen:
            seen, changed = files, time.monotonic()
        elif time.monotonic() - changed >= QUIET_SECONDS and _all_closed(run, ended_ms - 2000 * chunk_seconds):
            return
        time.sleep(_LOOK_SECONDS)


def _all_closed(run: Path, since_ms: float) -> bool:
    """Whether there are executors and each that wrote lately has closed its recording."""
    executors = {name: own for name, own in by_executor(chunks_of(run)).items() if name != "driver"}
    alive = [
        own for own in executors.values() if (own[-1].manifest is None or (own[-1].manifest.last_ms or 0) > since_ms)
    ]
    return bool(executors) and all(own[-1].manifest is not None and own[-1].manifest.last for own in alive)
