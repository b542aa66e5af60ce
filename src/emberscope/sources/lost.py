"""What of a run was not recorded: executors without chunks, tails after the last chunk, gaps in the sequence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from emberscope.store.chunks import Chunk, Manifest
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.recording import Recording
from emberscope.tables.run import Application
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    import pyarrow as pa


LATE_MS: Final = 5000
"""An executor that came later than this before the end of the application may not have begun to record."""

_COUNTED: Final = re.compile(r"(\d[\d,]*) (.*?\b(?:sample|event|secret|byte))s?\b(.*)", re.S)
"""A message that begins with a number of things."""


def by_executor(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """Chunks by executor id, each in the order of recording. Driver chunks are those of executor `driver`."""
    found: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        found["driver" if chunk.role == "driver" else chunk.executor_id].append(chunk)
    for chunks_of_one in found.values():
        chunks_of_one.sort(key=lambda chunk: (_sequence(chunk), str(chunk.path)))
    return found


def executor_notes(
    executors: pa.Table | None, chunks: Iterable[Chunk], application: Application, *, fraction: str | None = None
) -> list[Note]:
    """One `executor_lost` note for each executor whose end, or whose whole life, is in no chunk; the driver too. One
    that came at the very end is `not_recorded` instead.

    `executors` is None where there is no event log. A process that the log does not know is told where it was swept,
    for then it died; of any other nobody can say whether it has ended.

    An executor's life ends with its removal, or with the application where it was not removed before. What is lost is
    the time from the last chunk to that end; a last chunk that says `last` was closed by the recorder itself, so that
    nothing is lost after it, unless it was swept: then the process died some time after it. As the driver notices a
    death late, this is the most that can be lost. Where only a `fraction` of the executors was to be recorded the
    others are `sampled`.
    """
    recorded = by_executor(chunks)
    notes = []
    left_out = 0
    rows = executors.to_pylist() if executors is not None else []
    known = {row["executor_id"] for row in rows}
    for executor_id, own in recorded.items():
        died = _died(own, application) if executor_id == "driver" else _swept(own)
        if executor_id not in known and died:
            rows.append({"executor_id": executor_id, "added_ms": None, "removed_ms": None, "removed_reason": None})
    for row in rows:
        executor_id = row["executor_id"]
        own = recorded.get(executor_id, [])
        lost_ms = lost_tail_ms(own, row["added_ms"], end_of_life_ms(row, application))
        who = "The driver" if executor_id == "driver" else f"Executor {executor_id}"
        if not own and (fraction or "1") not in ("1", "1.0"):
            left_out += 1
            continue
        if not own and row["removed_ms"] is None and lost_ms is not None and lost_ms < LATE_MS:
            # Spark replaces executors until the end: one that has hardly started then did not die.
            message = f"{who} came {format_ms(lost_ms)} before the end of the application and was not recorded."
            notes.append(Note("not_recorded", message, f"executor {executor_id}"))
            continue
        if not own:
            message = f"{who} was not recorded at all"
        elif _closed(own):
            continue
        elif _swept(own):
            message = f"{who} died; what it left on its disk was fetched, its last moments are missing"
        else:
            message = f"{who} ended without closing its recording: its end is missing"
        if lost_ms:
            message += f", {format_ms(lost_ms)} at most"
        reason = (row["removed_reason"] or "").strip().partition("\n")[0]
        where = "driver" if executor_id == "driver" else f"executor {executor_id}"
        message += f" ({reason})." if reason else "."
        notes.append(Note("executor_lost", message, where, {"seconds": lost_ms / 1000} if lost_ms else {}))
    if left_out:
        were = "executor was" if left_out == 1 else "executors were"
        message = f"{left_out} {were} left out by spark.emberscope.fraction={fraction}."
        notes.append(Note("sampled", message, "recorder"))
    return notes


def executor_rows(
    executors: pa.Table | None, chunks: Iterable[Chunk], application: Application
) -> list[dict[str, Any]]:
    """What is known of each process that ran tasks or was recorded, as `run.json` has it; times are epoch ms.

    `lost_ms` is the time from its last chunk to its end, its whole life where it was not recorded; null if unknown.
    """
    recorded = by_executor(chunks)
    rows = []
    for row in executors.to_pylist() if executors is not None else []:
        own = recorded.pop(row["executor_id"], [])
        rows.append(
            {
                "id": row["executor_id"],
                "host": row["host"],
                "added": row["added_ms"],
                "removed": row["removed_ms"],
                "reason": row["removed_reason"],
                "recorded_ms": recorded_ms(own),
                "lost_ms": lost_tail_ms(own, row["added_ms"], end_of_life_ms(row, application)),
            }
        )
    for executor_id, own in recorded.items():
        host = next((chunk.manifest.host for chunk in own if chunk.manifest), None)
        rows.append(
            {
                "id": executor_id,
                "host": host,
                "added": None,
                "removed": None,
                "reason": None,
                "recorded_ms": recorded_ms(own),
                "lost_ms": lost_tail_ms(own, None, end_of_life_ms({"removed_ms": None}, application)),
            }
        )
    return rows


def chunk_notes(chunks: Iterable[Chunk]) -> list[Note]:
    """For each process what its recorder says it lost, and the chunks that are missing in the sequence from 0."""
    notes = []
    for executor_id, own in by_executor(chunks).items():
        where = "driver" if executor_id == "driver" else f"executor {executor_id}"
        manifests = [chunk.manifest for chunk in own if chunk.manifest is not None]
        # Every manifest counts all that its engine lost before it, so the last one of each engine knows of all; whoever
        # ships for the dead begins to count anew.
        lasts = {(_engine(manifest), manifest.swept): manifest for manifest in manifests}
        lost: dict[str, float] = {}
        for manifest in lasts.values():
            for name, count in manifest.lost.items():
                if count:
                    lost[name] = lost.get(name, 0) + count
        if lost:
            notes.append(Note("dropped_events", "The recorder could not keep everything.", where, lost))
        numbers = {manifest.sequence for manifest in manifests if manifest.sequence is not None}
        # A chunk that its process gave up has a number too, and is among the lost.
        missing = max(numbers) + 1 - len(numbers) - int(lost.get("chunks", 0)) if numbers else 0
        if missing > 0:
            are = "is" if missing == 1 else "are"
            message = f"{missing} of {max(numbers) + 1} chunks {are} not there."
            notes.append(Note("missing_part", message, where, {"chunks": float(missing)}))
    return notes


def by_process(recordings: Iterable[Recording], chunks: Iterable[Chunk]) -> Coverage:
    """What the reader saw inside the chunks, the counts of one process added up and under its name."""
    names = {
        str(chunk.path): "driver" if name == "driver" else f"executor {name}"
        for name, own in by_executor(chunks).items()
        for chunk in own
    }
    sums: dict[tuple[str, str, str, str], dict[str, float]] = {}
    counts: dict[tuple[str, str, str, str], int] = {}
    for recording in recordings:
        for note in recording.facts.coverage.notes:
            found = _COUNTED.fullmatch(note.message) if note.where in names else None
            if found is None:
                key = (note.code, note.message, "", note.where)
            else:
                key = (note.code, found[2], found[3], names[note.where])
                counts[key] = counts.get(key, 0) + int(found[1].replace(",", ""))
            lost = sums.setdefault(key, {})
            for name, count in note.lost.items():
                lost[name] = lost.get(name, 0) + count
    notes = []
    for key, lost in sums.items():
        code, words, rest, where = key
        notes.append(Note(code, f"{counted(counts[key], words)}{rest}" if key in counts else words, where, lost))
    return Coverage(tuple(notes))


def end_of_life_ms(executor: dict[str, object], application: Application) -> int | None:
    """When an executor ended, as far as the event log tells."""
    end_ms = application.app_end_ms if application.app_end_ms is not None else application.last_event_ms
    removed_ms = executor["removed_ms"]
    return removed_ms if isinstance(removed_ms, int) else end_ms


def recorded_ms(chunks: Iterable[Chunk]) -> int:
    """Time that the chunks of one process cover, from their manifests, an overlap counted once."""
    spans = sorted(
        (chunk.manifest.first_ms, chunk.manifest.last_ms)
        for chunk in chunks
        if chunk.manifest and chunk.manifest.first_ms is not None and chunk.manifest.last_ms is not None
    )
    covered, reached = 0, None
    for first, last in spans:
        begin = first if reached is None else max(first, reached)
        covered += max(0, last - begin)
        reached = last if reached is None else max(reached, last)
    return covered


def lost_tail_ms(chunks: list[Chunk], added_ms: int | None, end_ms: int | None) -> int | None:
    """Time from the last chunk of one executor to its end; its whole life where it has no chunk; null if unknown.

    Where several engines recorded, from the last chunk of the one that reaches the least far.
    """
    if chunks and _closed(chunks):
        return 0
    lasts: dict[str, int] = {}
    for chunk in chunks:
        if chunk.manifest is not None and chunk.manifest.last_ms is not None:
            engine = _engine(chunk.manifest)
            lasts[engine] = max(lasts.get(engine, chunk.manifest.last_ms), chunk.manifest.last_ms)
    since_ms = min(lasts.values()) if lasts else added_ms
    return None if since_ms is None or end_ms is None else max(0, end_ms - since_ms)


def _closed(chunks: list[Chunk]) -> bool:
    """Whether the process itself shipped its end."""
    return not _swept(chunks) and any(chunk.manifest is not None and chunk.manifest.last for chunk in chunks)


def _swept(chunks: list[Chunk]) -> bool:
    return any(chunk.manifest is not None and chunk.manifest.swept for chunk in chunks)


def _died(driver: list[Chunk], application: Application) -> bool:
    """Whether a driver is gone that did not close its recording; one whose application goes on is no loss."""
    return bool(driver) and not _closed(driver) and (_swept(driver) or application.app_end_ms is not None)


def _engine(manifest: Manifest) -> str:
    """The engine without its version and what it found there: `async-profiler` of `async-profiler 4.5 (ctimer)`."""
    return (manifest.engine or "").partition(" ")[0]


def _sequence(chunk: Chunk) -> int:
    return chunk.manifest.sequence if chunk.manifest is not None and chunk.manifest.sequence is not None else -1
