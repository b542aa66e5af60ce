"""The recordings of tests/data/jfr, and what the tests ask of a reading."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pyarrow as pa

from emberscope.tables.recording import Recording

DATA = Path(__file__).parent.parent / "data" / "jfr"


def plain(name: str) -> bytes:
    """The unpacked bytes of a recording, so that damage meets the format and not gzip."""
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def paths(stacks: pa.Table, frames: pa.Table, *, lines: bool = False) -> list[tuple[str, ...]]:
    """The frames of every node, root first; `method:line` where lines are asked for."""
    names = frames["name"].to_pylist()
    if lines:
        names = [f"{name}:{line}" for name, line in zip(names, frames["line"].to_pylist(), strict=True)]
    found: list[tuple[str, ...]] = []
    for parent, frame in zip(stacks["parent"].to_pylist(), stacks["frame"].to_pylist(), strict=True):
        found.append(() if parent < 0 else (*found[parent], names[frame]))
    return found


def by_stack(recording: Recording) -> Counter[tuple[str, tuple[str, ...]]]:
    """How many samples of each event stand on each stack."""
    known = paths(recording.stacks, recording.frames)
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    columns = (recording.samples[name].to_pylist() for name in ("event", "stack", "count"))
    for event, node, count in zip(*columns, strict=True):
        counts[event, known[node]] += count
    return counts
