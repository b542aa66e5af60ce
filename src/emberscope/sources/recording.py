"""Recordings, one or many, read into one prefix tree and joined with the task spans that they hold themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from emberscope.errors import InputError
from emberscope.jfr.recording import read_recording
from emberscope.perf.collapsed import read_collapsed
from emberscope.perf.script import read_perf_script
from emberscope.profile.attribute import attribute
from emberscope.profile.merge import merge
from emberscope.sources.kind import is_recording, members_of
from emberscope.store.chunks import Chunk, check_chunk, read_chunk
from emberscope.tables.coverage import Coverage, Note, total
from emberscope.tables.live_objects import at_most
from emberscope.tables.recording import Recording
from emberscope.tables.run import Application, Run

if TYPE_CHECKING:
    import pyarrow as pa


def load_recording(path: str, *, lines: bool = False, compilation: bool = False, files: Sequence[str] = ()) -> Run:
    """A recording, or a directory of them, as a run of which nothing but its recordings is known.

    With `lines`, one method at different source lines is different frames; with `compilation`, so is one that was
    interpreted, compiled and inlined. `files` are those of a directory that are meant, all of them where it is empty.
    Raises `InputError` where nothing of it can be read.
    """
    place = Path(path)
    if files:
        chunks = [read_chunk(Path(file)) for file in files]
    elif not place.is_dir():
        chunks = [read_chunk(place)]
    else:
        chunks = [read_chunk(file) for file in members_of(place) if is_recording(file)]
    recordings, coverage = read_chunks(chunks, lines=lines, compilation=compilation, manifests_expected=False)
    if not recordings:
        reason = coverage.notes[0].message if coverage.notes else "it holds no recording."
        raise InputError(path, reason)
    return _run(path, recordings, coverage)


def load_text_profile(path: str, kind: str, *, compilation: bool = False) -> Run:
    """A file of one of the kinds `TEXT_PROFILES` as a run of which nothing but its samples is known.

    With `compilation`, the endings by which collapsed stacks tell how a method was compiled tell frames apart.
    Raises `InputError` where nothing of it can be read.
    """
    data = Path(path).read_bytes()
    if kind == "collapsed":
        return _run(path, [read_collapsed(data, path, compilation=compilation)], Coverage())
    return _run(path, [read_perf_script(data, path)], Coverage())


def _run(path: str, recordings: list[Recording], coverage: Coverage) -> Run:
    return Run(
        path=path,
        application=Application(),
        tables=joined(recordings),
        coverage=coverage + total(recording.facts.coverage for recording in recordings),
        recordings=tuple(recording.facts for recording in recordings),
        recorder=recorder_of(recordings),
    )


def read_chunks(
    chunks: Iterable[Chunk], *, lines: bool = False, compilation: bool = False, manifests_expected: bool = True
) -> tuple[list[Recording], Coverage]:
    """All chunks that can be read, and what is wrong with the files themselves.

    A chunk that cannot be read at all is a note, not an error. What the reader saw inside a chunk is in that
    recording's own facts.
    """
    recordings: list[Recording] = []
    notes: list[Note] = []
    for chunk in chunks:
        where = str(chunk.path)
        try:
            data: bytes | Path = chunk.path
            if chunk.manifest is not None or manifests_expected:
                data = chunk.path.read_bytes()
                notes += check_chunk(chunk, data, where)
            period_ns = chunk.manifest.sample_period_ns if chunk.manifest is not None else None
            recording = read_recording(
                data, where, origin=chunk.origin, lines=lines, compilation=compilation, period_ns=period_ns
            )
            recordings.append(recording)
        except InputError as error:
            lost = {"chunks": 1.0, "bytes": float(chunk.path.stat().st_size)}
            notes.append(Note("missing_part", error.reason, where, lost))
        except OSError as error:
            notes.append(Note("missing_part", f"A recording cannot be read: {error.strerror}.", where, {"chunks": 1}))
    return recordings, Coverage(tuple(notes))


def joined(recordings: list[Recording]) -> dict[str, pa.Table]:
    """The tables `samples stacks frames spans series marks heap_classes` of all recordings over one prefix tree.

    Samples carry their task where a span of the same process covers them. Of live objects that many recordings of a
    process tell of, those of one remain.
    """
    merged = merge(recordings)
    looks = np.repeat(np.arange(len(recordings)), [recording.samples.num_rows for recording in recordings])
    samples = at_most(merged.samples, looks)
    return {
        "samples": attribute(samples, merged.spans, merged.stacks, merged.frames),
        "stacks": merged.stacks,
        "frames": merged.frames,
        "spans": merged.spans,
        "series": merged.series,
        "marks": merged.marks,
        "heap_classes": merged.heap_classes,
    }


def recorder_of(recordings: list[Recording]) -> dict[str, Any]:
    """What the recordings say about how they were made: their `settings`, those of the first where they differ."""
    settings: dict[str, str] = {}
    for recording in recordings:
        settings = {**recording.settings, **settings}
    return {"settings": settings} if settings else {}
