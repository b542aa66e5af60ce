"""What both readers of text profiles collect while they go through the lines, and the recording made of it."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from emberscope.errors import InputError
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.recording import Origin, Recording, RecordingFacts
from emberscope.tables.samples import EVENTS, SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from emberscope.tables.stack_tree import ROOT, StackTree
from emberscope.unpack import unpack

UNKNOWN_ORIGIN: Final = Origin()
_LEAVES: Final = 20


class Gathered:
    """Notes and columns of table samples; `stack` is a node of `tree`."""

    def __init__(self, path: str, tree: StackTree | None, *columns: str) -> None:
        self.path = path
        self.tree = tree if tree is not None else StackTree()
        self.columns: dict[str, list[Any]] = {name: [] for name in ("count", "stack", *columns)}
        self.malformed_lines = 0
        self._notes: list[Note] = []

    def plain(self, data: bytes) -> bytes:
        """The bytes behind gzip. Raises `InputError` where there are none."""
        if not data:
            raise InputError(self.path, "the file is empty.")
        plain, missing = unpack(data)
        if missing and not plain:
            raise InputError(self.path, f"{missing}.")
        if missing:
            self.note("cut", missing)
        return plain

    def note(self, code: str, message: str, **lost: int) -> None:
        self._notes.append(Note(code, message, self.path, {name: float(n) for name, n in lost.items() if n}))

    def add(self, count: int, stack: int, **more: Any) -> None:
        """One row of table samples."""
        for name, value in (more | {"count": count, "stack": stack}).items():
            self.columns[name].append(value)

    def recording(
        self, form: str, origin: Origin, event_counts: Counter[str], start_ms: int | None, duration_ms: int | None
    ) -> Recording:
        """All of it as a recording in which every sample is of event cpu."""
        if self.malformed_lines:
            message = f"{self.malformed_lines} lines cannot be understood"
            self.note("malformed_line", message, lines=self.malformed_lines)
        rows = len(self.columns["stack"])
        leaves: Counter[str] = Counter()
        frames = self.tree.frames()
        for node, count in zip(self.columns["stack"], self.columns["count"], strict=True):
            if node != ROOT:
                leaves[self.tree.names[frames[node]]] += count
        facts = RecordingFacts(
            path=self.path,
            format=form,
            chunks=0,
            chunk_versions=(),
            event_counts=dict(sorted(event_counts.items())),
            start_ms=start_ms,
            duration_ms=duration_ms,
            samples={event: sum(self.columns["count"]) if event == "cpu" else 0 for event in EVENTS},
            leaf_top=tuple(leaves.most_common(_LEAVES)),
            coverage=Coverage(tuple(self._notes)),
        )
        process = {"role": origin.role, "executor_id": origin.executor_id, "host": origin.host}
        fixed = {name: [value] * rows for name, value in ({"event": "cpu"} | process).items()}
        stacks, frames = self.tree.tables()
        return Recording(
            facts=facts,
            samples=SAMPLES.from_columns(self.columns | fixed),
            stacks=stacks,
            frames=frames,
            spans=SPANS.empty(),
            series=SERIES.empty(),
        )
