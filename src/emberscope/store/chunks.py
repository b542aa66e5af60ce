"""The recorded chunks of a run and their manifests (`emberscope.chunk/1`)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emberscope.store.layout import RECORDINGS
from emberscope.tables.coverage import Note
from emberscope.tables.recording import Origin

SUFFIX: Final = ".jfr"
_BEYOND: Final = 1 << 63
"""No recorder counts so far."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the recorder said about one chunk. Times are epoch ms; `lost` is all that its process lost until then.

    `rate_ratio` is the share of the samples asked for that was taken (0: task spans alone), `rate_held_by` the budget
    that asked for less. `own_cpu_ns` of `process_cpu_ns` is the recorder's own, both since the process began.
    `problems` are those of the process until then.
    A chunk that another process fetched after the death of its own is `swept`.
    """

    role: str | None = None
    executor_id: str | None = None
    host: str | None = None
    sequence: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None
    engine: str | None = None
    jdk: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    events: Any = None
    sample_period_ns: int | None = None
    rate_ratio: float | None = None
    rate_held_by: str | None = None
    own_cpu_ns: int | None = None
    process_cpu_ns: int | None = None
    problems: tuple[dict[str, Any], ...] = ()
    last: bool = False
    swept: bool = False
    lost: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk file with its manifest; `manifest` is None where there is none or it cannot be read."""

    path: Path
    manifest: Manifest | None
    role: str
    executor_id: str

    @property
    def origin(self) -> Origin:
        return Origin(self.role or None, self.executor_id or None, self.manifest.host if self.manifest else None)


def chunks_of(run: Path) -> list[Chunk]:
    """The chunks of a run, by process and then in the order in which they were recorded."""
    root = run / RECORDINGS
    found = sorted(root.glob(f"*/*{SUFFIX}")) if root.is_dir() else []
    return [read_chunk(path) for path in found]


def read_chunk(path: Path) -> Chunk:
    """A chunk with its manifest. The directory `<role>-<executor id>` speaks where the manifest does not."""
    manifest = read_manifest(path.with_suffix(".json"))
    role, _, executor_id = path.parent.name.partition("-")
    if role not in ("driver", "executor", "python"):
        role, executor_id = "", ""
    if manifest is not None:
        role, executor_id = manifest.role or role, manifest.executor_id or executor_id
    return Chunk(path, manifest, role, executor_id or ("driver" if role == "driver" else ""))


def read_manifest(path: Path) -> Manifest | None:
    """The manifest at `path`, or None where there is none that can be understood."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict):
        return None
    known = {name: document[name] for name in Manifest.__dataclass_fields__ if name in document}
    lost = known.get("lost")
    counts = lost.items() if isinstance(lost, dict) else ()
    known["lost"] = {name: float(n) for name, n in counts if isinstance(n, int | float) and 0 <= n < _BEYOND}
    problems = known.get("problems")
    known["problems"] = tuple(one for one in problems if isinstance(one, dict)) if isinstance(problems, list) else ()
    ratio = known.get("rate_ratio")
    if not isinstance(ratio, int | float) or not 0 <= ratio <= 1:
        known["rate_ratio"] = None
    if not isinstance(known.get("rate_held_by", ""), str):
        known["rate_held_by"] = None
    for name in ("sequence", "first_ms", "last_ms", "bytes", "sample_period_ns", "own_cpu_ns", "process_cpu_ns"):
        if not isinstance(known.get(name, 0), int) or not 0 <= (known.get(name) or 0) < _BEYOND:
            known[name] = None
    for name in ("role", "executor_id", "host", "engine", "jdk", "sha256"):
        if not isinstance(known.get(name, ""), str):
            known[name] = None
    for name in ("last", "swept"):
        known[name] = known.get(name) is True
    return Manifest(**known)


def check_chunk(chunk: Chunk, data: bytes, where: str) -> list[Note]:
    """What the manifest says against the bytes that are there: missing, cut or changed."""
    manifest = chunk.manifest
    if manifest is None:
        return [Note("missing_part", "A chunk has no manifest: who wrote it is told by its directory alone.", where)]
    notes = []
    if manifest.bytes is not None and manifest.bytes > len(data):
        lost_bytes = float(manifest.bytes - len(data))
        notes.append(Note("cut", "A chunk is shorter than its manifest says.", where, {"bytes": lost_bytes}))
    elif manifest.sha256 and hashlib.sha256(data).hexdigest() != manifest.sha256.lower():
        notes.append(Note("cut", "A chunk is not what its manifest says: its checksum is another.", where))
    return notes
