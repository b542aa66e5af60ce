"""What a reader of profiler recordings gives back, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from emberscope.tables.coverage import Coverage
from emberscope.tables.heap_classes import HEAP_CLASSES
from emberscope.tables.marks import MARKS

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Origin:
    """The process that a recording comes from; null where nobody said."""

    role: str | None = None
    executor_id: str | None = None
    host: str | None = None


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """The facts of one recording, as `summary --json` prints them (`contract.md`, recording part)."""

    path: str
    format: str
    chunks: int
    chunk_versions: tuple[str, ...]
    event_counts: dict[str, int]
    start_ms: int | None
    duration_ms: int | None
    samples: dict[str, int]
    leaf_top: tuple[tuple[str, int], ...]
    coverage: Coverage

    def document(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "format": self.format,
            "chunks": self.chunks,
            "chunk_versions": list(self.chunk_versions),
            "event_counts": dict(self.event_counts),
            "start_ms": self.start_ms,
            "duration_ms": self.duration_ms,
            "samples": dict(self.samples),
            "leaf_top": [[method, count] for method, count in self.leaf_top],
            "coverage": self.coverage.document(),
        }


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording as tables. `settings` holds what the recorder said of itself: `event#setting` to value."""

    facts: RecordingFacts
    samples: pa.Table
    stacks: pa.Table
    frames: pa.Table
    spans: pa.Table
    series: pa.Table
    marks: pa.Table = field(default_factory=MARKS.empty)
    heap_classes: pa.Table = field(default_factory=HEAP_CLASSES.empty)
    settings: dict[str, str] = field(default_factory=dict)
