"""A recording of JDK Flight Recorder or async-profiler as tables."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import Final

from emberscope.jfr.choice import of_tables
from emberscope.jfr.chunk import Refused
from emberscope.jfr.gather import Gathered
from emberscope.jfr.header import Header
from emberscope.jfr.losses import Losses
from emberscope.jfr.parallel import in_order, useful_threads
from emberscope.jfr.parts import chunks_of, nothing_read
from emberscope.jfr.sampled import Sampled, sampled
from emberscope.jfr.source import Source, opened
from emberscope.tables.recording import Origin, Recording, RecordingFacts
from emberscope.tables.stack_tree import StackTree

_UNKNOWN_ORIGIN: Final = Origin()
_LEAVES: Final = 20


def read_recording(
    data: bytes | os.PathLike[str],
    path: str,
    *,
    origin: Origin = _UNKNOWN_ORIGIN,
    tree: StackTree | None = None,
    lines: bool = False,
    compilation: bool = False,
    period_ns: int | None = None,
) -> Recording:
    """Samples, spans, series, marks, heap classes and facts of a `.jfr` file, its bytes or its path.

    The file may be plain or in gzip, zstd or LZ4. `path` is only for messages. `origin` fills the columns role,
    executor_id and host. Stacks go into `tree`, which may already hold those of other recordings; `stacks` and `frames`
    of the result are that tree as it stands then.
    With `lines`, frames of one method at different source lines are different frames; with `compilation`, so are
    those that were interpreted, compiled or inlined. `period_ns` is what a CPU sample stands for in a chunk that does
    not say it: only the first chunk of a file of async-profiler does.

    Every chunk is read by itself with its own types and constants. What is cut, damaged, unfinished or of an
    unsupported version is named in `facts.coverage`, and all else is read. Raises `InputError` where nothing can be,
    and `OSError` where the file cannot be opened.
    """
    with opened(data) as (source, missing):
        reading = _Reading(path, origin, tree if tree is not None else StackTree(), lines, compilation, period_ns)
        return reading.read(source, missing)


class _Reading:
    """One call of `read_recording`."""

    def __init__(
        self, path: str, origin: Origin, tree: StackTree, lines: bool, compilation: bool, period_ns: int | None
    ) -> None:
        self._path = path
        self._origin = origin
        self._tree = tree
        self._lines = lines
        self._compilation = compilation
        self._losses = Losses(path)
        self._gathered = Gathered(tree, self._losses, period_ns)
        self._versions: list[str] = []
        self._starts_ns: list[int] = []
        self._ends_ns: list[int] = []
        self._event_counts: Counter[str] = Counter()

    def read(self, source: Source, missing: str) -> Recording:
        headers = list(chunks_of(source, missing, self._losses))
        read_one = partial(sampled, source, choice=of_tables(self._lines), compilation=self._compilation)
        results = in_order(read_one, headers, useful_threads(source.size))
        for header in headers:
            chunk = next(results)
            self._versions.append(header.version)
            if isinstance(chunk, Refused):
                self._losses.of_refused(header, chunk.code, chunk.reason)
            else:
                self._add(header, chunk)
            del chunk  # before the next one is asked for, so that there is never one more than threads
        if not self._starts_ns:
            raise nothing_read(self._path, source, missing, self._losses)
        return self._recording()

    def _add(self, header: Header, chunk: Sampled) -> None:
        self._event_counts.update(chunk.chunk.event_counts)
        self._gathered.add(chunk)
        end_ns = header.start_ns + max(0, header.duration_ns)
        self._starts_ns.append(header.start_ns)
        self._ends_ns.append(end_ns if header.finished else max(end_ns, chunk.chunk.last_ns or 0))
        if header.major == 1:
            reason = f"JFR format {header.version} (JDK 9 or 10) has no samples that can be drawn; `events` reads it"
            self._losses.note("unsupported_version", f"chunk at byte {header.offset}: {reason}", chunks=1)
        self._losses.of_chunk(chunk.chunk)

    def _recording(self) -> Recording:
        got, origin = self._gathered, self._origin
        start_ns, end_ns = min(self._starts_ns), max(self._ends_ns)
        samples, spans, series, marks = got.samples(origin), got.spans(origin), got.series(origin), got.marks(origin)
        heap_classes = got.heap_classes(origin)
        facts = RecordingFacts(
            path=self._path,
            format="jfr",
            chunks=len(self._versions),
            chunk_versions=tuple(sorted(set(self._versions))),
            event_counts=dict(sorted(self._event_counts.items())),
            start_ms=start_ns // 1_000_000,
            duration_ms=(end_ns - start_ns) // 1_000_000,
            samples=got.sample_counts(samples),
            leaf_top=tuple(sorted(got.leaves.items(), key=lambda leaf: (-leaf[1], leaf[0]))[:_LEAVES]),
            coverage=self._losses.coverage(),
        )
        stacks, frames = self._tree.tables()
        return Recording(facts, samples, stacks, frames, spans, series, marks, heap_classes, got.settings)
