"""A recording of JDK Flight Recorder or async-profiler as tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from emberscope.errors import InputError
from emberscope.jfr.chunk import HEADER_BYTES, MAGIC, Chunk, Gap, split
from emberscope.jfr.constants import PoolReader
from emberscope.jfr.encoding import BROKEN
from emberscope.jfr.gather import Gathered
from emberscope.jfr.metadata import CHECKPOINT_EVENT, METADATA_EVENT, Metadata, metadata_body, parse_metadata
from emberscope.jfr.scan import Places, linked_checkpoints, scan
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.recording import Origin, Recording, RecordingFacts
from emberscope.tables.samples import SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from emberscope.tables.stack_tree import StackTree
from emberscope.unpack import unpack

_UNKNOWN_ORIGIN: Final = Origin()
_EVENTS: Final = ("cpu", "wall", "alloc", "lock", "live", "native")
_LEAVES: Final = 20


def read_recording(
    data: bytes,
    path: str,
    *,
    origin: Origin = _UNKNOWN_ORIGIN,
    tree: StackTree | None = None,
    lines: bool = False,
) -> Recording:
    """Samples, spans, series and facts of a `.jfr` file, plain or in gzip.

    `path` is only for messages. `origin` fills the columns role, executor_id and host. Stacks go into `tree`, which
    may already hold those of other recordings; `stacks` and `frames` of the result are that tree as it stands then.
    With `lines`, frames of one method at different source lines are different frames.

    Every chunk is read by itself with its own types and constants. What is cut, damaged, unfinished or of an
    unsupported version is named in `facts.coverage`, and all else is read. Raises `InputError` where nothing can be.
    """
    return _Reading(path, origin, tree if tree is not None else StackTree(), lines).read(data)


@dataclass(frozen=True, slots=True)
class _Extent:
    """When a chunk begins and ends."""

    start_ns: int
    end_ns: int


class _Reading:
    """One call of `read_recording`."""

    def __init__(self, path: str, origin: Origin, tree: StackTree, lines: bool) -> None:
        self._path = path
        self._origin = origin
        self._tree = tree
        self._lines = lines
        self._notes: list[Note] = []
        self._faults: list[str] = []
        self._pool_readers: dict[int, PoolReader] = {}
        self._versions: list[str] = []
        self._extents: list[_Extent] = []
        self._event_counts: Counter[str] = Counter()
        self._gathered = Gathered(tree, lines)

    def read(self, data: bytes) -> Recording:
        if not data:
            raise InputError(
                self._path,
                "the recording is empty (0 bytes)",
                hint="Its JVM ended before it wrote the file; look for chunks in the JVM's JFR repository directory.",
            )
        plain, missing = unpack(data)
        if missing:
            self._note("cut", missing)
        for part in split(plain):
            if isinstance(part, Gap):
                self._note("cut", f"{part.size} bytes at byte {part.offset} are in no chunk", bytes=part.size)
            else:
                self._versions.append(part.version)
                self._chunk(part, plain[part.offset : part.end])
        if not self._extents:
            raise InputError(self._path, self._why_nothing(plain, missing))
        return self._recording()

    def _why_nothing(self, plain: bytes, missing: str) -> str:
        if self._faults:
            return self._faults[0]
        if missing and len(plain) < HEADER_BYTES:
            return missing
        if MAGIC.startswith(plain[: len(MAGIC)]) and plain:
            return f"the recording is cut within its first header, {len(plain)} bytes are left"
        return "not a JFR recording"

    def _note(self, code: str, message: str, **lost: int) -> None:
        self._notes.append(Note(code, message, self._path, {name: n for name, n in lost.items() if n}))

    def _refuse(self, chunk: Chunk, code: str, fault: str) -> None:
        self._faults.append(fault)
        self._note(code, f"chunk at byte {chunk.offset}: {fault}", chunks=1, bytes=chunk.available)

    def _chunk(self, chunk: Chunk, b: bytes) -> None:
        if fault := chunk.fault():
            self._refuse(chunk, "unsupported_version", fault)
            return
        if chunk.ticks_per_second <= 0:
            self._refuse(chunk, "cut", f"its header is damaged ({chunk.ticks_per_second} ticks a second)")
            return
        boundaries = linked_checkpoints(b, chunk)
        metadata = _metadata(b, chunk, boundaries)
        if metadata is None:
            fault = "it holds no description of its events that can be read"
            if chunk.missing_bytes:
                fault = f"it is cut after {chunk.available} of {chunk.size} bytes, before the description of its events"
            self._refuse(chunk, "cut", fault)
            return
        known = metadata.event_ids | {METADATA_EVENT, CHECKPOINT_EVENT}
        places = scan(b, chunk, known, boundaries)
        self._count(chunk, metadata, places)
        if chunk.major == 1:
            self._note(
                "unsupported_version",
                f"chunk at byte {chunk.offset}: JFR format {chunk.version} (JDK 9 or 10): events are only counted",
                chunks=1,
            )
        else:
            reader = self._pool_readers.get(id(metadata))
            if reader is None:  # the reader holds its metadata, so the id stays its own
                reader = self._pool_readers[id(metadata)] = PoolReader(metadata, chunk.integers, self._lines)
            pools = reader.read(b, places.of(CHECKPOINT_EVENT))
            if pools.faults:
                message = f"chunk at byte {chunk.offset}: {len(pools.faults)} checkpoints cannot be read whole"
                self._note("unresolved", f"{message} ({pools.faults[0]})")
            self._gathered.add(chunk, b, metadata, places, pools)
        end_ns = chunk.start_ns + max(0, chunk.duration_ns)
        self._extents.append(_Extent(chunk.start_ns, end_ns if chunk.finished else max(end_ns, self._gathered.last_ns)))
        self._tell_losses(chunk, places)

    def _count(self, chunk: Chunk, metadata: Metadata, places: Places) -> None:
        described = metadata.event_ids
        unknown = 0
        for type_id, positions in places.by_type.items():
            if type_id in described:
                self._event_counts[metadata.name_of(type_id)] += len(positions)
            elif type_id not in (METADATA_EVENT, CHECKPOINT_EVENT):
                unknown += len(positions)
        if unknown:
            self._note(
                "unresolved",
                f"chunk at byte {chunk.offset}: {unknown} events are of types that it does not describe",
                events=unknown,
            )

    def _tell_losses(self, chunk: Chunk, places: Places) -> None:
        where = f"chunk at byte {chunk.offset}"
        unread = places.lost_bytes
        if chunk.missing_bytes:
            message = f"{where}: cut, {chunk.missing_bytes} of its {chunk.size} bytes are missing"
            self._note("cut", message, bytes=chunk.missing_bytes + unread)
        elif not chunk.finished:
            self._note("chunk_unfinished", f"{where}: its JVM did not finish it", bytes=unread)
        elif unread:
            self._note("cut", f"{where}: {unread} bytes hold no event that can be made out", bytes=unread)

    def _coverage(self) -> Coverage:
        got = self._gathered
        if got.unresolved_samples:
            message = "samples whose stack the recording does not hold, or not whole"
            self._note("unresolved", f"{got.unresolved_samples} {message}", samples=got.unresolved_samples)
        if got.truncated_samples:
            message = "samples have stacks deeper than the recorder kept: their root side is missing"
            self._note("truncated_stacks", f"{got.truncated_samples} {message}", samples=got.truncated_samples)
        if got.lost_samples:
            message = "CPU samples were lost by the sampler, as it says itself"
            self._note("dropped_events", f"{got.lost_samples} {message}", samples=got.lost_samples)
        if got.lost_bytes:
            message = "bytes of events were lost by the recorder, as it says itself"
            self._note("dropped_events", f"{got.lost_bytes} {message}", bytes=got.lost_bytes)
        if got.broken_events:
            self._note(
                "dropped_events", f"{got.broken_events} events are damaged and left out", events=got.broken_events
            )
        return Coverage(tuple(self._notes))

    def _recording(self) -> Recording:
        got = self._gathered
        start_ns = min(extent.start_ns for extent in self._extents)
        end_ns = max(extent.end_ns for extent in self._extents)
        facts = RecordingFacts(
            path=self._path,
            format="jfr",
            chunks=len(self._versions),
            chunk_versions=tuple(sorted(set(self._versions))),
            event_counts=dict(sorted(self._event_counts.items())),
            start_ms=start_ns // 1_000_000,
            duration_ms=(end_ns - start_ns) // 1_000_000,
            samples={event: got.sample_counts[event] for event in _EVENTS},
            leaf_top=tuple(got.leaves.most_common(_LEAVES)),
            coverage=self._coverage(),
        )
        stacks, frames = self._tree.tables()
        return Recording(
            facts=facts,
            samples=SAMPLES.from_columns(self._with_origin(got.samples, "time_ns")),
            stacks=stacks,
            frames=frames,
            spans=SPANS.from_columns(self._with_origin(got.spans, "start_ns")),
            series=SERIES.from_columns(self._with_origin(got.series, "time_ns")),
            settings=got.settings,
        )

    def _with_origin(self, columns: dict[str, list[object]], counted_by: str) -> dict[str, list[object]]:
        rows = len(columns.get(counted_by, ()))
        origin = self._origin
        return columns | {
            "role": [origin.role] * rows,
            "executor_id": [origin.executor_id] * rows,
            "host": [origin.host] * rows,
        }


def _metadata(b: bytes, chunk: Chunk, boundaries: list[int]) -> Metadata | None:
    """The chunk's types: from where its header says, else from the last metadata event that can be read.

    The position is added to `boundaries`, which stay in order.
    """
    integers = chunk.integers
    places = [chunk.metadata] if HEADER_BYTES <= chunk.metadata < len(b) else []
    for position in places:
        try:
            metadata = parse_metadata(metadata_body(b, position, integers), integers)
        except BROKEN:
            continue
        boundaries.append(position)
        boundaries.sort()
        return metadata
    for position in reversed(scan(b, chunk, None, boundaries).of(METADATA_EVENT)):
        try:
            return parse_metadata(metadata_body(b, position, integers), integers)
        except BROKEN:
            continue
    return None
