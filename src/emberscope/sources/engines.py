"""What the engines of a run say of how they took their samples."""

from __future__ import annotations

import re
from collections.abc import Iterable

from emberscope.store.chunks import Chunk
from emberscope.tables.coverage import Note


def engine_notes(chunks: Iterable[Chunk]) -> list[Note]:
    """One note where async-profiler sampled CPU by a timer: it does so by itself where perf events are refused.

    A timer sees no frames of the kernel. The engine's name in the manifest holds what the recording itself says.
    """
    by_timer: dict[str, set[tuple[str, str]]] = {}
    for chunk in chunks:
        engine = chunk.manifest.engine if chunk.manifest is not None else None
        found = re.search(r"\((ctimer|itimer)\)", engine or "")
        if found is not None:
            by_timer.setdefault(found[1], set()).add((chunk.role, chunk.executor_id))
    notes = []
    for timer, processes in sorted(by_timer.items()):
        who = "1 process" if len(processes) == 1 else f"{len(processes)} processes"
        message = f"{who} sampled CPU by a timer ({timer}), since perf events were refused or not asked for: "
        notes.append(Note("limited", message + "there are no frames of the kernel.", "recorder"))
    return notes
