"""Recordings of JDK Flight Recorder and async-profiler: `read` gives their chunks, chunks give tables.

from emberscope import jfr

for chunk in jfr.read("recording.jfr"):
    print(chunk.event_counts, chunk.table("jdk.GCHeapSummary"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emberscope.jfr.chunk import Chunk
    from emberscope.jfr.chunks import Chunks, read

__all__ = ["Chunk", "Chunks", "read"]


def __getattr__(name: str) -> Any:
    """What is exported, loaded when it is first asked for."""
    if name == "Chunk":
        from emberscope.jfr.chunk import Chunk

        return Chunk
    if name in ("Chunks", "read"):
        from emberscope.jfr import chunks

        return getattr(chunks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
