"""What of a recording is cut, damaged, unresolved or left out, as notes of its coverage."""

from __future__ import annotations

from typing import Any

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.header import Gap, Header
from emberscope.jfr.stacks import IS_TRUNCATED, IS_UNRESOLVED
from emberscope.tables.coverage import Coverage, Note
from emberscope.units import counted


class Losses:
    """Notes in the order in which things were met, and sums that become notes at the end. `path` is for the notes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._notes: list[Note] = []
        self._samples = {"unresolved": 0, "truncated": 0, "lost": 0}
        self._lost_bytes = 0
        self._broken = 0
        self._superseded: dict[str, int] = {}
        self.refusals: list[str] = []
        self.hidden = 0
        """Secrets that were replaced in texts."""

    def note(self, code: str, message: str, **lost: float) -> None:
        self._notes.append(self._made(code, message, **lost))

    def _made(self, code: str, message: str, **lost: float) -> Note:
        return Note(code, message, self._path, {name: n for name, n in lost.items() if n})

    def of_gap(self, gap: Gap) -> None:
        self.note("cut", f"{gap.size} bytes at byte {gap.offset} are in no chunk", bytes=gap.size)

    def of_refused(self, header: Header, code: str, reason: str) -> None:
        """A chunk that cannot be read at all."""
        self.refusals.append(reason)
        lost = {"chunks": 1, "bytes": header.available, "seconds": _seconds(header.duration_ns)}
        self.note(code, f"chunk at byte {header.offset}: {reason}", **lost)

    def of_chunk(self, chunk: Chunk) -> None:
        """What is wrong with a chunk that was read."""
        header = chunk.header
        where = f"chunk at byte {header.offset}"
        self._broken += chunk.broken
        if chunk.undescribed:
            message = f"{where}: {counted(chunk.undescribed, 'event')} of types that it does not describe"
            self.note("unresolved", message, events=chunk.undescribed)
        if chunk.faults:
            position, reason = chunk.faults[0]
            message = f"{where}: {counted(len(chunk.faults), 'checkpoint')} cannot be read whole"
            self.note("unresolved", f"{message} (constants at byte {position}: {reason})")
        if header.missing_bytes:
            message = f"{where}: cut, {header.missing_bytes} of its {header.size} bytes are missing"
            end_ns = header.start_ns + header.duration_ns
            seconds = _seconds(end_ns - chunk.last_ns) if chunk.last_ns is not None else 0
            self.note("cut", message, bytes=header.missing_bytes + chunk.lost_bytes, seconds=seconds)
        elif not header.finished:
            self.note("chunk_unfinished", f"{where}: its JVM did not finish it", bytes=chunk.lost_bytes)
        elif chunk.lost_bytes:
            message = f"{where}: {chunk.lost_bytes} bytes hold no event that can be made out"
            self.note("cut", message, bytes=chunk.lost_bytes)

    def of_stacks(self, flags: Any, counts: Any) -> None:
        """Samples by the flags of their stacks (arrays of numpy, a value each)."""
        self._samples["unresolved"] += int(counts[(flags & IS_UNRESOLVED) != 0].sum())
        self._samples["truncated"] += int(counts[(flags & IS_TRUNCATED) != 0].sum())

    def of_superseded(self, name: str, count: int) -> None:
        """Events that are left out because a better type of their chunk counts the same."""
        self._superseded[name] = self._superseded.get(name, 0) + count

    def add_samples(self, *, unresolved: int, truncated: int) -> None:
        self._samples["unresolved"] += unresolved
        self._samples["truncated"] += truncated

    def by_sampler(self, samples: int) -> None:
        """Samples that the sampler says it lost."""
        self._samples["lost"] += samples

    def by_recorder(self, lost_bytes: int) -> None:
        """Bytes that the recorder says it lost."""
        self._lost_bytes += lost_bytes

    def coverage(self) -> Coverage:
        """All notes."""
        unresolved, truncated, lost = self._samples.values()
        notes = [*self._notes]
        for name, count in self._superseded.items():
            message = f"{counted(count, f'{name} event')} left out: a better event of the same chunk counts the same"
            notes.append(self._made("limited", message))
        if self.hidden:
            notes.append(self._made("redacted", f"{counted(self.hidden, 'secret')} in texts replaced"))
        if unresolved:
            message = f"{counted(unresolved, 'sample')} whose stack the recording does not hold, or not whole"
            notes.append(self._made("unresolved", message, samples=unresolved))
        if truncated:
            message = (
                f"{counted(truncated, 'sample')} with stacks deeper than the recorder kept: the root side is missing"
            )
            notes.append(self._made("truncated_stacks", message, samples=truncated))
        if lost:
            message = f"{counted(lost, 'CPU sample')} lost by the sampler, as it says itself"
            notes.append(self._made("dropped_events", message, samples=lost))
        if self._lost_bytes:
            message = f"{counted(self._lost_bytes, 'byte')} of events lost by the recorder, as it says itself"
            notes.append(self._made("dropped_events", message, bytes=self._lost_bytes))
        if self._broken:
            message = f"{counted(self._broken, 'damaged event')} left out"
            notes.append(self._made("dropped_events", message, events=self._broken))
        return Coverage(tuple(notes))


def _seconds(span_ns: int) -> float:
    """Seconds of a time span, in tenths; 0 for one that cannot be right: longer than a year, or negative."""
    return round(span_ns / 1e9, 1) if 0 < span_ns < 366 * 86_400 * 1_000_000_000 else 0.0
